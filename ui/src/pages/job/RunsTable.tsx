import { Link, useNavigate } from "@tanstack/react-router";
import type { RunView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { causeOf } from "@/pages/home/words";
import { EmptyState } from "@/parts/EmptyState";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { RunLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { type Column, Table } from "@/parts/Table";
import { Duration, MomentText } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { hasFailed, isFinal } from "@/status/table";
import { duration } from "@/time/format";
import classes from "./job.module.css";
import { recentRuns } from "./queries";

const TRIGGERS: Record<string, string> = {
  schedule: "planned",
  catchup: "caught up after its planned time",
  api: "started by the API",
  manual: "started by hand",
};

/** Return why a run is as it is, in a few words. Pure. */
export function whyOf(
  run: Pick<RunView, "status" | "reason" | "exit_code" | "error_message" | "attempt" | "trigger">,
): string {
  const attempts = run.attempt > 1 ? `attempt ${run.attempt}` : "";
  const why =
    hasFailed(run.status) || run.status === "skipped" || run.status === "cancelled" || run.reason
      ? causeOf(run)
      : triggerWords(run.trigger);
  return [why, attempts].filter(Boolean).join(", ");
}

/** "retry:01M7..." names the run that it repeats. */
function triggerWords(trigger: string): string {
  const [kind = "", id] = trigger.split(":");
  return kind === "retry" && id ? `repeats ${id.slice(-8)}` : (TRIGGERS[kind] ?? trigger);
}

const COLUMNS: readonly Column<RunView>[] = [
  { key: "id", title: "Run", width: "94px", render: (run) => <RunLink id={run.id} /> },
  { key: "status", title: "Status", width: "118px", render: (run) => <StatusWord status={run.status} /> },
  {
    key: "planned",
    title: "Planned",
    width: "100px",
    isWide: true,
    render: (run) => <MomentText at={run.scheduled_for ?? run.due_at} />,
  },
  {
    key: "lag",
    title: "Delay",
    align: "right",
    width: "92px",
    isWide: true,
    render: (run) => <span className="muted">{duration(run.lag)}</span>,
  },
  {
    key: "duration",
    title: "Duration",
    align: "right",
    width: "110px",
    render: (run) =>
      !isFinal(run.status) && run.started_at ? <Duration since={run.started_at} /> : duration(run.duration),
  },
  {
    key: "why",
    title: "Why",
    isWide: true,
    render: (run) => {
      const why = whyOf(run);
      return (
        <span className="muted" title={why}>
          {why}
        </span>
      );
    },
  },
];

/** The newest runs of the job. */
export function RunsTable({ jobId }: { jobId: string }) {
  const navigate = useNavigate();
  const list = useList(recentRuns(jobId));
  return (
    <Section
      title="Recent runs"
      plain
      more={
        <Link to="/runs" search={{ job: jobId }}>
          All runs
        </Link>
      }
    >
      {list.error && <ErrorNote error={list.error} onRetry={list.reload} />}
      {list.isLoading ? (
        <Loading rows={4} />
      ) : (
        <div className={classes.runs}>
          <Table<RunView>
            label="Recent runs"
            columns={COLUMNS}
            rows={list.items}
            rowKey={(run) => run.id}
            onOpen={(run) => void navigate({ to: "/runs/$runId", params: { runId: run.id } })}
            empty={<EmptyState title="No runs yet" command={`foliot trigger ${jobId} --follow`} />}
          />
        </div>
      )}
    </Section>
  );
}
