import { Button, Popover, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import { jobs } from "@/api/queries";
import { ErrorNote } from "@/parts/ErrorNote";
import { readPayload } from "./payload";

interface Props {
  jobId: string;
  isOpen: boolean;
  onChange: (isOpen: boolean) => void;
  /** The button that opens it. */
  children: ReactNode;
}

/** Starts a run, with parameters as JSON. Ctrl or Cmd and Enter start it too. */
export function RunNow({ jobId, isOpen, onChange, children }: Props) {
  return (
    <Popover
      opened={isOpen}
      onChange={onChange}
      width={340}
      position="bottom-end"
      trapFocus
      returnFocus
      withRoles={false}
    >
      <Popover.Target>
        <span>{children}</span>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={`Run ${jobId} now`}>
        {isOpen && <RunForm jobId={jobId} onClose={() => onChange(false)} />}
      </Popover.Dropdown>
    </Popover>
  );
}

function RunForm({ jobId, onClose }: { jobId: string; onClose: () => void }) {
  const { data: job } = useQuery(jobs.get(jobId));
  const usual = job?.payload_template ?? null;
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? (usual === null ? "" : JSON.stringify(usual, null, 2));
  const { payload, problem } = readPayload(text);
  const run = useAction({
    send: () =>
      api.post("/api/jobs/{job_id}/run", {
        path: { job_id: jobId },
        body: payload === undefined || typed === null ? {} : { payload },
      }),
    changes: ["overview", "jobs", "runs", "status"],
    done: () => `${jobId} was started`,
    onSuccess: onClose,
    isQuiet: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!problem && !run.isPending) run.mutate(undefined);
  };
  return (
    <form
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
      }}
    >
      <h2>Run {jobId} now</h2>
      <Textarea
        mt={8}
        label="Parameters (JSON)"
        description={usual === null ? "Empty: the job runs without parameters." : "These are the job's own parameters."}
        placeholder='{"day": "2026-10-22"}'
        value={text}
        onChange={(event) => setTyped(event.target.value)}
        error={problem}
        rows={Math.max(3, Math.min(14, text.split("\n").length))}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mono)", fontSize: 12, lineHeight: "18px" } }}
      />
      {run.error && <ErrorNote error={run.error} />}
      <div className="row" style={{ marginTop: 12, justifyContent: "flex-end" }}>
        <Button onClick={onClose}>Back</Button>
        <Button
          type="submit"
          variant="filled"
          loading={run.isPending}
          disabled={Boolean(problem)}
          data-autofocus={usual === null || undefined}
        >
          Run now
        </Button>
      </div>
    </form>
  );
}
