import { Link } from "@tanstack/react-router";
import type { RunPage } from "@/api/types.gen";
import { CopyButton } from "@/parts/CopyButton";
import { JobLink, RunLink, ScheduleLink } from "@/parts/links";
import { PageTitle } from "@/parts/PageTitle";
import { Duration, MomentText } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { isFinal } from "@/status/table";
import { counted, duration } from "@/time/format";
import { RunActions } from "./RunActions";
import classes from "./run.module.css";

const KINDS: Record<string, string> = {
  job: "Run of",
  execution: "Execution of",
  fanout: "Fanout",
  chain: "Chain",
  item: "Item of",
  step: "Step of",
  reducer: "Reducer of",
};

/** The name, the status, when it ran, and what can be done. */
export function Head({ page }: { page: RunPage }) {
  const { run } = page;
  const name = page.step ?? (run.kind === "item" ? (run.item ?? run.job_id) : run.job_id);
  return (
    <PageTitle
      title={name}
      note={
        <span className="row">
          <StatusWord status={run.status} />
          <span className={`${classes.id} wide`}>
            <span className="mono faint">{run.id}</span>
            <CopyButton text={run.id} label="Copy the run id" />
          </span>
        </span>
      }
      sub={
        <>
          <What page={page} /> <When page={page} />
        </>
      }
      actions={<RunActions page={page} />}
    />
  );
}

function What({ page }: { page: RunPage }) {
  const { run, fanout } = page;
  const execution = page.execution?.execution;
  if (execution && run.kind === "execution") {
    return (
      <>
        Execution of <JobLink id={run.job_id} isWorkflow /> version {execution.version}.{" "}
        <Link to="/workflows/$workflowId" params={{ workflowId: run.job_id }} search={{ execution: run.id }}>
          Show the graph
        </Link>
        .
      </>
    );
  }
  return (
    <>
      {KINDS[run.kind] ?? "Run of"}{" "}
      {fanout ? (
        <>
          <JobLink id={run.job_id} /> over {counted(fanout.items, "item")}
          {fanout.inputs_from && (
            <>
              {" "}
              from <code>{fanout.inputs_from}</code>
            </>
          )}
        </>
      ) : (
        <JobLink id={run.job_id} isWorkflow={run.kind === "step"} />
      )}
      {run.parent_id && (
        <>
          , part of <RunLink id={run.parent_id} />
        </>
      )}
      .
    </>
  );
}

function When({ page }: { page: RunPage }) {
  const { run } = page;
  return (
    <>
      <Cause page={page} />{" "}
      {run.started_at ? (
        <>
          Started{" "}
          {run.scheduled_for && run.lag !== null ? (
            `${duration(Math.max(0, run.lag))} later`
          ) : (
            <MomentText at={run.started_at} full />
          )}
          .{" "}
        </>
      ) : null}
      {run.started_at && !isFinal(run.status) && run.status !== "queued" && run.status !== "scheduled" && (
        <>
          Running for{" "}
          <b>
            <Duration since={run.started_at} />
          </b>
          .
        </>
      )}
      {isFinal(run.status) && run.duration !== null && (
        <>
          Took <b>{duration(run.duration)}</b>.
        </>
      )}
    </>
  );
}

/** What created the run. */
function Cause({ page }: { page: RunPage }) {
  const { run } = page;
  const [, kind, other] = /^(\w+):([0-9A-Z]{26})$/.exec(run.trigger) ?? [];
  const rerunOf = page.fanout?.rerun_of ?? page.execution?.execution.rerun_of ?? other;
  if (run.job_schedule_id && run.scheduled_for) {
    return (
      <>
        Planned <MomentText at={run.scheduled_for} full /> by <ScheduleLink id={run.job_schedule_id} />.
      </>
    );
  }
  if (rerunOf) {
    return (
      <>
        {kind === "mark" ? "Marks" : "Repeats"} <RunLink id={rerunOf} />.
      </>
    );
  }
  return <>Triggered by {run.trigger}.</>;
}
