import { Link } from "@tanstack/react-router";
import type { RunningRun } from "@/api/types.gen";
import { RunLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { StatusIcon } from "@/status/StatusIcon";
import { duration } from "@/time/format";
import { useNow } from "@/time/useNow";
import classes from "./home.module.css";
import { gaugeOf } from "./progress";

/** What runs now, its time beside its usual duration. */
export function RunningNow({ running, total }: { running: readonly RunningRun[]; total: number }) {
  const hidden = total - running.length;
  return (
    <Section
      title="Running"
      note={total}
      more={
        hidden > 0 ? (
          <Link to="/runs" search={{ status: "running" }}>
            {hidden} more
          </Link>
        ) : (
          running.length > 0 && <span className="faint">the mark is the usual duration</span>
        )
      }
    >
      {running.length === 0 && <p className="faint">Nothing runs at the moment.</p>}
      <ul>
        {running.map((one) => (
          <Going key={one.run.id} one={one} />
        ))}
      </ul>
    </Section>
  );
}

const KINDS: Record<string, string> = { execution: "workflow" };

function Going({ one: { run, usual } }: { one: RunningRun }) {
  const now = useNow();
  const since = Date.parse(run.started_at ?? run.created_at);
  const passed = Math.max(0, Math.floor((now - since) / 1_000));
  const gauge = gaugeOf(passed, usual, run.progress);
  const percent = run.progress ? `${Math.round(run.progress.fraction * 100)} %` : null;
  return (
    <li className={classes.going}>
      <StatusIcon status={run.status} alone />
      <span className="clip">
        <span className={classes.title}>
          <Name run={run} />
        </span>{" "}
        <span className={classes.kind}>
          {[KINDS[run.kind] ?? run.kind, run.progress?.text, run.attempt > 1 && `attempt ${run.attempt}`]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </span>
      <span className={classes.gauge}>
        {gauge && (
          <span className={classes.track} title={percent ?? undefined}>
            <i data-over={gauge.isOver || undefined} style={{ width: `${gauge.filled * 100}%` }} />
            {gauge.usual !== null && <u style={{ left: `${gauge.usual * 100}%` }} />}
          </span>
        )}
      </span>
      <span className={classes.number}>
        {duration(passed)}
        <small>
          {usual ? `usually ${duration(usual.p50)}` : run.kind !== "chain" && "no usual duration yet"}
          {gauge?.isOver && usual && <span className="look">, p95 {duration(usual.p95)}</span>}
        </small>
      </span>
    </li>
  );
}

function Name({ run }: { run: RunningRun["run"] }) {
  if (run.kind === "execution") {
    return (
      <Link to="/workflows/$workflowId" params={{ workflowId: run.job_id }} search={{ execution: run.id }}>
        {run.job_id}
      </Link>
    );
  }
  return <RunLink id={run.id}>{run.job_id}</RunLink>;
}
