import { ActionIcon } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { RunView } from "@/api/types.gen";
import { RunLink } from "@/parts/links";
import type { Column } from "@/parts/Table";
import { Duration, MomentText, RelativeTime } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { hasFailed } from "@/status/table";
import { counted } from "@/time/format";
import { endText } from "../run/why";
import classes from "./runs.module.css";

const PARENTS = new Set(["fanout", "execution", "chain"]);

/** Whether a run has runs below it. */
export const hasBelow = (run: RunView): boolean => PARENTS.has(run.kind) || run.role === "parent";

const KINDS: Record<string, string> = { execution: "workflow", job: "" };

export function columnsOf(opened: readonly string[], onToggle: (run: RunView) => void): Column<RunView>[] {
  return [
    {
      key: "job",
      title: "Run",
      render: (run) => <Name run={run} isOpen={opened.includes(run.id)} onToggle={onToggle} />,
    },
    { key: "status", title: "Status", width: "118px", render: (run) => <StatusWord status={run.status} /> },
    {
      key: "why",
      title: "Why",
      isWide: true,
      render: (run) => (
        <span
          className={classes.why}
          data-failed={hasFailed(run.status) || undefined}
          title={run.error_message ?? undefined}
        >
          {run.progress ? progressText(run) : itemsText(run) || endText(run)}
        </span>
      ),
    },
    {
      key: "cause",
      title: "Triggered by",
      width: "150px",
      isWide: true,
      render: (run) => <Cause run={run} />,
    },
    {
      key: "begun",
      title: "Started",
      width: "112px",
      isWide: true,
      render: (run) =>
        run.started_at ? (
          <RelativeTime at={run.started_at} />
        ) : run.finished_at ? (
          <RelativeTime at={run.finished_at} />
        ) : (
          <span className="faint">
            due <MomentText at={run.due_at} />
          </span>
        ),
    },
    {
      key: "duration",
      title: "Duration",
      width: "92px",
      align: "right",
      render: (run) =>
        run.status === "running" || run.status === "cancelling" ? (
          <Duration since={run.started_at} />
        ) : (
          <Duration seconds={run.duration} />
        ),
    },
    {
      key: "attempt",
      title: "Attempt",
      width: "76px",
      align: "right",
      isWide: true,
      render: (run) => (run.attempt > 0 ? run.attempt : <span className="faint">–</span>),
    },
    {
      key: "id",
      title: "Id",
      width: "96px",
      isWide: true,
      render: (run) => (
        <RunLink id={run.id}>
          <span className="mono faint">{run.id.slice(-8)}</span>
        </RunLink>
      ),
    },
  ];
}

function Name({ run, isOpen, onToggle }: { run: RunView; isOpen: boolean; onToggle: (run: RunView) => void }) {
  const name =
    run.kind === "item" ? (run.item ?? run.job_id) : run.kind === "step" ? (run.child_key ?? run.job_id) : run.job_id;
  return (
    <span className={classes.name} data-quiet={run.status === "skipped" || run.status === "cancelled" || undefined}>
      {hasBelow(run) ? (
        <ActionIcon
          className={classes.toggle}
          size={20}
          aria-label={`${isOpen ? "Hide" : "Show"} what is below ${name}`}
          aria-expanded={isOpen}
          onClick={() => onToggle(run)}
        >
          {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
        </ActionIcon>
      ) : (
        <span className={classes.toggle} />
      )}
      <RunLink id={run.id}>{name}</RunLink>
      <span className={`${classes.kind} wide`}>{KINDS[run.kind] ?? run.kind}</span>
    </span>
  );
}

function Cause({ run }: { run: RunView }) {
  if (run.job_schedule_id && run.scheduled_for) {
    return (
      <Link to="/schedules/$scheduleId" params={{ scheduleId: run.job_schedule_id }} className="muted">
        schedule, <MomentText at={run.scheduled_for} />
      </Link>
    );
  }
  const [kind, other] = run.trigger.split(":");
  return (
    <span className="muted">
      {kind}
      {other && other.length === 26 && (
        <>
          {" of "}
          <RunLink id={other} />
        </>
      )}
    </span>
  );
}

/** How the items of a fanout have ended, if some have failed. */
function itemsText(run: RunView): string {
  const counts = run.output_payload as Record<string, unknown> | null;
  if (run.kind !== "fanout" || counts === null || typeof counts !== "object") return "";
  const number = (name: string) => (typeof counts[name] === "number" ? counts[name] : 0);
  const failed = number("failed") + number("timed_out");
  return failed > 0 ? `${failed.toLocaleString("en")} of ${counted(number("items"), "item")} failed` : "";
}

function progressText(run: RunView): string {
  const { progress } = run;
  return progress ? `${Math.round(progress.fraction * 100)} %${progress.text ? `, ${progress.text}` : ""}` : "";
}
