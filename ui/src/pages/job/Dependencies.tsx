import type { Gate, RunView } from "@/api/types.gen";
import { JobLink, RunLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { MomentText, RelativeTime } from "@/parts/times";
import { StatusIcon } from "@/status/StatusIcon";
import { entryOf, isFinal } from "@/status/table";
import { gateWords, unmetWords } from "./gate";
import classes from "./job.module.css";

interface Props {
  gate: Gate;
  dependencies: Record<string, RunView>;
}

/** The jobs that it depends on, each with the newest run and a dot of its status. */
export function Dependencies({ gate, dependencies }: Props) {
  return (
    <Section title={<span className="nowrap">Depends on</span>} note={gateWords(gate)} plain>
      <ul className={classes.badges} aria-label="Dependencies">
        {gate.depends_on.map((id) => (
          <Badge key={id} id={id} run={dependencies[id]} />
        ))}
      </ul>
      <p className={classes.hint}>If one is missing or has failed: {unmetWords(gate)}.</p>
    </Section>
  );
}

function Badge({ id, run }: { id: string; run: RunView | undefined }) {
  return (
    <li className={classes.badge}>
      <StatusIcon status={run?.status ?? "pending"} alone />
      <JobLink id={id} />
      <span className={classes.when}>
        {run ? (
          <RunLink id={run.id}>
            {isFinal(run.status) ? "" : `${entryOf(run.status).word}, since `}
            {isFinal(run.status) ? <MomentText at={run.finished_at} /> : <RelativeTime at={run.started_at} />}
          </RunLink>
        ) : (
          "has not run"
        )}
      </span>
    </li>
  );
}
