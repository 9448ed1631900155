import { Button } from "@mantine/core";
import { useState } from "react";
import { useMe } from "@/access/useMe";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import { Confirm } from "@/parts/Confirm";
import { counted } from "@/time/format";
import classes from "./jobs.module.css";
import { joined } from "./words";

type Act = "run" | "pause" | "resume";

const ACTS: Record<Act, { word: string; title: string; text: string; done: string }> = {
  run: { word: "Run now", title: "Run", text: "Each starts with its own parameters", done: "started" },
  pause: { word: "Pause", title: "Pause", text: "Their planned times are skipped", done: "paused" },
  resume: { word: "Resume", title: "Resume", text: "They fire again", done: "resumed" },
};
const NAMED = 8;

interface Props {
  selected: ReadonlySet<string>;
  onClear: () => void;
}

interface Outcome {
  done: string[];
  /** Ids, each with why it was refused. */
  refused: { id: string; why: string }[];
}

/** What can be done with all selected jobs. It names them before it does anything. */
export function BulkBar({ selected, onClear }: Props) {
  const { may } = useMe();
  const [refused, setRefused] = useState<Outcome["refused"]>([]);
  const ids = [...selected].sort();
  const apply = useAction({
    send: (act: Act) => applied(act, ids),
    changes: ["overview", "jobs", "schedules", "runs", "status"],
    done: ({ done }, act) => `${counted(done.length, "job")} ${ACTS[act].done}`,
    onSuccess: (outcome) => {
      setRefused(outcome.refused);
      if (outcome.refused.length === 0) onClear();
    },
  });
  if (!may("operate")) return null;
  return (
    <section className={classes.bulk} aria-label="Selected jobs">
      <b>{counted(ids.length, "job")} selected</b>
      {(Object.keys(ACTS) as Act[]).map((act) => (
        <Confirm
          key={act}
          target={(open) => (
            <Button onClick={open} loading={apply.isPending && apply.variables === act}>
              {ACTS[act].word}
            </Button>
          )}
          title={`${ACTS[act].title} ${counted(ids.length, "job")}?`}
          text={`${ACTS[act].text}: ${named(ids)}.`}
          action={ACTS[act].word}
          onConfirm={() => apply.mutate(act)}
        />
      ))}
      <Button variant="subtle" color="gray" onClick={onClear}>
        Clear
      </Button>
      {refused.map(({ id, why }) => (
        <span key={id} className="bad">
          {id}: {why}
        </span>
      ))}
    </section>
  );
}

/** Do it for one job after the other: a refused one does not stop the others. */
async function applied(act: Act, ids: readonly string[]): Promise<Outcome> {
  const outcome: Outcome = { done: [], refused: [] };
  for (const id of ids) {
    try {
      await sent(act, id);
      outcome.done.push(id);
    } catch (error) {
      outcome.refused.push({ id, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return outcome;
}

function sent(act: Act, job_id: string): Promise<unknown> {
  const path = { job_id };
  switch (act) {
    case "run":
      return api.post("/api/jobs/{job_id}/run", { path, body: {} });
    case "pause":
      return api.post("/api/jobs/{job_id}/pause", { path });
    case "resume":
      return api.post("/api/jobs/{job_id}/resume", { path });
  }
}

/** Return the first ids, and how many more there are. */
export function named(ids: readonly string[]): string {
  if (ids.length <= NAMED) return joined(ids);
  return `${ids.slice(0, NAMED).join(", ")} and ${ids.length - NAMED} more`;
}
