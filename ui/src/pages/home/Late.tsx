import { Link } from "@tanstack/react-router";
import type { HomePage, MissedSchedule, WaitingRun } from "@/api/types.gen";
import { JobName } from "@/pages/jobs/JobName";
import { JobStrip } from "@/pages/jobs/JobStrip";
import { RunLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { Duration, MomentText } from "@/parts/times";
import { MarkIcon, StatusIcon } from "@/status/StatusIcon";
import { counted } from "@/time/format";
import { Act } from "./Act";
import classes from "./home.module.css";
import { Need } from "./Need";
import { missedWords, waitOf } from "./words";

/** Runs that wait for more than a minute, and planned times that did not fire. */
export function Late({ home }: { home: HomePage }) {
  const hidden = home.missed_count - home.missed.length;
  const isCalm = home.waiting.length === 0 && home.missed.length === 0;
  return (
    <div id="late" className={classes.anchor}>
      <Section
        title="Late or missed"
        note={
          <>
            since <MomentText at={home.account.since} />
          </>
        }
        more={
          <Link to="/ledger" search={{ outcome: "missed", since: home.account.since }}>
            {hidden > 0 ? `${counted(hidden, "schedule")} more` : "Ledger"}
          </Link>
        }
      >
        {isCalm && <p className="faint">Every planned time fired, and no run waits.</p>}
        <ul>
          {home.waiting.map((waiting) => (
            <Waiting key={waiting.run.id} waiting={waiting} />
          ))}
          {home.missed.map((missed) => (
            <Missed key={missed.schedule_id} missed={missed} />
          ))}
        </ul>
      </Section>
    </div>
  );
}

function Waiting({ waiting: { run, why } }: { waiting: WaitingRun }) {
  return (
    <Need
      icon={<StatusIcon status={run.status} alone />}
      title={<RunLink id={run.id}>{run.job_id}</RunLink>}
      kind={run.kind}
      actions={<Act asLink={(props) => <Link to="/runs/$runId" params={{ runId: run.id }} {...props} />}>Explain</Act>}
    >
      Due <MomentText at={run.due_at} />, queued for{" "}
      <b>
        <Duration since={run.due_at} />
      </b>
      . {waitOf(why)}
    </Need>
  );
}

function Missed({ missed: { schedule_id, job_id, job, count, since, until, reasons } }: { missed: MissedSchedule }) {
  return (
    <Need
      icon={<MarkIcon mark="missed" />}
      title={<JobName id={job_id} kind={job?.kind ?? "job"} />}
      kind={job?.kind}
      side={job && <JobStrip row={job} />}
      actions={
        <Act asLink={(props) => <Link to="/schedules/$scheduleId" params={{ scheduleId: schedule_id }} {...props} />}>
          Explain
        </Act>
      }
    >
      <b>{counted(count, "tick")}</b> missed{" "}
      {count > 1 ? (
        <>
          from <MomentText at={since} /> to <MomentText at={until} />
        </>
      ) : (
        <>
          at <MomentText at={since} />
        </>
      )}
      : {missedWords(reasons)}.
    </Need>
  );
}
