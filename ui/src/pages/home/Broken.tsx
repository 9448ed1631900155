import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useMe } from "@/access/useMe";
import type { BrokenJob, HomePage } from "@/api/types.gen";
import { JobName } from "@/pages/jobs/JobName";
import { JobStrip } from "@/pages/jobs/JobStrip";
import { RunNow } from "@/pages/jobs/RunNow";
import { useJobActions } from "@/pages/jobs/useJobActions";
import { Confirm } from "@/parts/Confirm";
import { Section } from "@/parts/Section";
import { MomentText, RelativeTime } from "@/parts/times";
import { StatusIcon } from "@/status/StatusIcon";
import { counted } from "@/time/format";
import { Act } from "./Act";
import { BreakerNeed } from "./BreakerNeed";
import { Need } from "./Need";
import { causeOf } from "./words";

/** Jobs whose newest result is a failure, and open breakers. */
export function Broken({ home }: { home: HomePage }) {
  const count = home.broken_count + home.breakers.length;
  const hidden = home.broken_count - home.broken.length;
  return (
    <Section
      title="Broken"
      note={count}
      more={
        home.broken_count > 0 && (
          <Link to="/jobs" search={{ state: "failing" }}>
            {hidden > 0 ? `${hidden} more` : "All failing jobs"}
          </Link>
        )
      }
    >
      {count === 0 && <p className="faint">Nothing is broken.</p>}
      <ul>
        {home.broken.map((broken) => (
          <BrokenNeed key={broken.job.id} broken={broken} />
        ))}
        {home.breakers.map((breaker) => (
          <BreakerNeed key={breaker.id} breaker={breaker} />
        ))}
      </ul>
    </Section>
  );
}

function BrokenNeed({ broken: { job, run, since, failures, is_counted } }: { broken: BrokenJob }) {
  const isRow = failures > 1 || !is_counted;
  return (
    <Need
      icon={<StatusIcon status={run?.status ?? "failed"} alone />}
      title={<JobName id={job.id} kind={job.kind} />}
      kind={
        <>
          {job.kind}
          {run && (
            <>
              {" · last tried "}
              <RelativeTime at={run.finished_at ?? run.created_at} />
            </>
          )}
        </>
      }
      side={<JobStrip row={job} />}
      actions={<BrokenActions job={job} run={run} />}
    >
      {run && (
        <>
          <b>{sentence(causeOf(run))}</b>
          {run.attempt > 1 && ` ${run.attempt} attempts.`}{" "}
        </>
      )}
      {isRow ? (
        <>
          {is_counted ? "" : "At least "}
          {counted(failures, "failure")} in a row
          {since && (
            <>
              {" "}
              since <MomentText at={since} />
            </>
          )}
          .
        </>
      ) : (
        since && (
          <>
            Failed at <MomentText at={since} />.
          </>
        )
      )}
      {job.stopped_at && <> Stopped after too many failures: it fires again when it is resumed.</>}
    </Need>
  );
}

/** At most two actions and a quiet one. What soon fires again is run now or paused; the rest is retried or marked. */
function BrokenActions({ job, run }: Pick<BrokenJob, "job" | "run">) {
  const { may } = useMe();
  const actions = useJobActions();
  const [isRunning, setRunning] = useState(false);
  const isFrequent = job.next_run_at !== null && Date.parse(job.next_run_at) - Date.now() < 3_600_000;
  const isMarkable = !isFrequent && run !== null && job.kind !== "workflow" && job.kind !== "chain";
  const isStopped = job.stopped_at !== null || job.paused;
  return (
    <>
      {may("operate") && isStopped && (
        <Act isQuiet onClick={() => actions.resume.mutate(job.id)}>
          Resume
        </Act>
      )}
      {may("operate") && !isStopped && !isMarkable && (
        <Act isQuiet onClick={() => actions.pause.mutate(job.id)}>
          Pause
        </Act>
      )}
      {may("operate") && !isStopped && isMarkable && (
        <Confirm
          target={(open) => (
            <Act isQuiet onClick={open}>
              Mark as success
            </Act>
          )}
          title="Mark this run as a success?"
          text="Jobs that depend on it then continue. Who marked it is kept in the audit."
          action="Mark"
          onConfirm={() => actions.mark.mutate(run.id)}
        />
      )}
      {may("operate") &&
        (isMarkable ? (
          <Act onClick={() => actions.retry.mutate(run.id)}>Retry</Act>
        ) : (
          <RunNow jobId={job.id} isOpen={isRunning} onChange={setRunning}>
            <Act onClick={() => setRunning(!isRunning)}>Run now</Act>
          </RunNow>
        ))}
      {run && <Act asLink={(props) => <Link to="/runs/$runId" params={{ runId: run.id }} {...props} />}>Open log</Act>}
    </>
  );
}

/** "exit code 69" as a sentence. */
function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
