import type { Phase, RunPage } from "@/api/types.gen";
import { Section } from "@/parts/Section";
import { Duration, MomentText } from "@/parts/times";
import { StatusIcon } from "@/status/StatusIcon";
import { entryOf } from "@/status/table";
import { counted } from "@/time/format";
import { useNow } from "@/time/useNow";
import classes from "./run.module.css";
import { reasonWords } from "./why";

const MOST_SHOWN = 30;

/** When the run waited and when it ran: a bar for each attempt, the wait before it dotted. */
export function Timeline({ page }: { page: RunPage }) {
  const phases = page.timeline;
  const now = useNow(phases.some((phase) => phase.end === null) ? 1_000 : 3_600_000);
  const [first] = phases;
  if (!first) return null;
  const begin = Date.parse(first.begin);
  const end = Math.max(...phases.map((phase) => (phase.end ? Date.parse(phase.end) : now)), begin + 1);
  const shown = phases.slice(-MOST_SHOWN);
  return (
    <Section
      title="Attempts"
      note={page.run.attempt || undefined}
      more={
        page.given_back > 0 && (
          <span className="faint">{counted(page.given_back, "start")} given back by a stopping worker</span>
        )
      }
    >
      <ol className={classes.timeline} aria-label="Timeline">
        {shown.map((phase) => (
          <Line key={`${phase.kind}${phase.attempt}${phase.begin}`} phase={phase} begin={begin} end={end} now={now} />
        ))}
      </ol>
    </Section>
  );
}

function Line({ phase, begin, end, now }: { phase: Phase; begin: number; end: number; now: number }) {
  const from = Date.parse(phase.begin);
  const upto = phase.end ? Date.parse(phase.end) : Math.max(now, from);
  const part = (time: number) => `${(Math.max(0, time) / (end - begin)) * 100}%`;
  const isAttempt = phase.kind === "running";
  return (
    <li className={classes.phase}>
      <span className={isAttempt ? "row" : "faint"}>
        {isAttempt && <StatusIcon status={phase.status ?? "running"} size={13} alone />}
        {isAttempt ? `Attempt ${phase.attempt}` : phase.kind}
      </span>
      <span className={classes.track} aria-hidden="true">
        <i
          data-kind={phase.kind}
          data-hue={isAttempt ? entryOf(phase.status ?? "running").hue : undefined}
          style={{ left: `min(${part(from - begin)}, 100% - 3px)`, width: part(upto - from) }}
        />
      </span>
      <span className={isAttempt ? undefined : "faint"}>
        {phase.end === null ? <Duration since={phase.begin} /> : <Duration seconds={(upto - from) / 1_000} />}
      </span>
      {isAttempt && (
        <span className={classes.when}>
          <MomentText at={phase.begin} full />
          {(phase.worker || phase.worker_id) && ` on ${phase.worker ?? phase.worker_id?.slice(-8)}`}
          {phase.reason && `: ${reasonWords(phase.reason)}`}
        </span>
      )}
    </li>
  );
}
