/** The stages of an explanation as sentences: first what happened, then the facts that decided it. */
import { Fragment, type ReactNode } from "react";
import type { ExplainedPath } from "@/api/types.gen";
import { RunLink } from "@/parts/links";
import { Duration, MomentText } from "@/parts/times";
import { REASONS } from "@/status/table";
import { counted, duration } from "@/time/format";

export type Stage = ExplainedPath["stages"][number];
type StageOf<Name extends Stage["stage"]> = Extract<Stage, { stage: Name }>;

export interface StageWords {
  sentence: ReactNode;
  facts?: ReactNode;
}

export function stageWords(stage: Stage): StageWords {
  const words = WORDS[stage.stage] as (one: Stage) => StageWords;
  return words(stage);
}

const NOT_PLANNED = {
  no_fire_time: "The schedule does not fire at this time.",
  before_schedule: "The schedule did not exist at this time.",
  pruned: "Retention has removed the ticks of this time.",
};
const GATE = {
  skip: "The gate declined: the run was skipped.",
  fail: "The gate failed the run.",
  run: "The gate passed.",
};

const WORDS: { [Name in Stage["stage"]]: (stage: StageOf<Name>) => StageWords } = {
  tick: (stage) => ({
    sentence: stage.not_planned ? NOT_PLANNED[stage.not_planned] : <Planned stage={stage} />,
    facts: (
      <>
        {ruleOf(stage)}
        {stage.revision > 1 && `, revision ${stage.revision}`}
        {stage.decided_at ? (
          <>
            , decided <MomentText at={stage.decided_at} full />
          </>
        ) : (
          ", not decided yet"
        )}
      </>
    ),
  }),
  trigger: (stage) => ({
    sentence: (
      <>
        Created by <b>{stage.trigger}</b> at <MomentText at={stage.created_at} full />
      </>
    ),
    facts: stage.rerun_of && (
      <>
        repeats run <RunLink id={stage.rerun_of} />
      </>
    ),
  }),
  policy: (stage) => ({
    sentence: (
      <>
        <b>{stage.outcome}</b>: {REASONS[stage.reason]}
      </>
    ),
    facts: <PolicyFacts stage={stage} />,
  }),
  paused: (stage) => ({
    sentence: (
      <>
        {stage.all_paused ? "All schedules have" : "The schedule has"} been paused since{" "}
        <MomentText at={stage.since} full />
      </>
    ),
    facts: stage.after_failures
      ? "after failed runs in a row (pause_after_failures)"
      : stage.all_paused && `by ${stage.all_paused.by}${stage.all_paused.note && `: ${stage.all_paused.note}`}`,
  }),
  step: (stage) => ({
    sentence: (
      <>
        Step <b>{stage.step}</b> of {stage.workflow_id} version {stage.version}
      </>
    ),
    facts: stage.after.length > 0 && (
      <>
        after{" "}
        {stage.after.map((one) => `${one.step} (${one.result ?? "pending"}, required: ${one.required})`).join(", ")}
      </>
    ),
  }),
  due: (stage) => ({
    sentence: (
      <>
        Due at <MomentText at={stage.due_at} full />
      </>
    ),
  }),
  gate: (stage) => ({
    sentence: stage.decision ? GATE[stage.decision.action] : `The gate waits for ${some(stage.depends_on)}.`,
    facts: <GateFacts stage={stage} />,
  }),
  limit: (stage) => ({
    sentence: stage.option ? (
      <>
        Limited by{" "}
        <b>
          {stage.option}={stage.value}
        </b>
      </>
    ) : (
      "An earlier run has not ended."
    ),
    facts: stage.holders.length > 0 && <>held by {some(stage.holders)}</>,
  }),
  worker: (stage) => ({ sentence: workerSentence(stage), facts: `queue ${stage.queue}` }),
  attempt: (stage) => ({
    sentence: (
      <>
        Attempt {stage.number}: <b>{stage.status}</b>
        {stage.reason && ` (${stage.reason.replaceAll("_", " ")})`}
        {stage.exit_code ? `, exit code ${stage.exit_code}` : ""}
      </>
    ),
    facts: <AttemptFacts stage={stage} />,
  }),
  steps: (stage) => ({
    sentence: `${counted(stage.steps.length, "step")} of ${stage.workflow_id} version ${stage.version}`,
    facts: stage.deadline && (
      <>
        timeout at <MomentText at={stage.deadline} full />
      </>
    ),
  }),
  items: (stage) => ({
    sentence: "It ends when its items have ended.",
    facts: stage.deadline && (
      <>
        timeout at <MomentText at={stage.deadline} full />
      </>
    ),
  }),
  chain: () => ({ sentence: "It ends when its chain has ended." }),
  chain_step: (stage) => ({
    sentence: (
      <>
        <b>{stage.step}</b> of chain {stage.chain_id || stage.class_id}, because {stage.cause}
      </>
    ),
    facts: `depth ${stage.depth}, attempt ${stage.attempt}${stage.decision ? `, it decided ${stage.decision}` : ""}`,
  }),
  exit: (stage) => ({
    sentence: (
      <>
        Ended as <b>{stage.status}</b>
        {stage.finished_at && (
          <>
            {" "}
            at <MomentText at={stage.finished_at} full />
          </>
        )}
        {stage.attempts > 0 && ` after ${counted(stage.attempts, "attempt")}`}
        {stage.lost > 0 && `, ${stage.lost} lost`}
      </>
    ),
    facts: stage.error || stage.reason?.replaceAll("_", " "),
  }),
};

function Planned({ stage }: { stage: StageOf<"tick"> }) {
  return (
    <>
      Planned for <MomentText at={stage.scheduled_for} full />
      {stage.count > 1 && (
        <>
          {" "}
          to <MomentText at={stage.until} full />, {counted(stage.count, "tick")}
        </>
      )}
    </>
  );
}

function ruleOf(stage: StageOf<"tick">): string {
  if (stage.schedule_type === "cron") return `${stage.schedule_expr}, ${stage.timezone}`;
  return stage.schedule_type === "interval" ? `every ${duration(Number(stage.schedule_expr))}` : "once";
}

function PolicyFacts({ stage }: { stage: StageOf<"policy"> }) {
  const parts: ReactNode[] = [];
  if (stage.reason === "overlap") parts.push(`overlap=${stage.overlap}`);
  if (stage.in_flight.length > 0) parts.push(<>open then: {some(stage.in_flight)}</>);
  if (stage.paused_since) parts.push(<Paused since={stage.paused_since} until={stage.paused_until} />);
  if (["down", "too_old", "caught_up"].includes(stage.reason)) {
    parts.push(`decided ${duration(stage.late)} late`, `catchup=${stage.catchup}`);
    if (stage.catchup_max_age !== null) parts.push(`catchup_max_age=${duration(stage.catchup_max_age)}`);
  }
  if (stage.into) {
    parts.push(
      <>
        the tick of <MomentText at={stage.into} /> ran for it {stage.into_run && <RunLink id={stage.into_run} />}
      </>,
    );
  }
  return joined(parts);
}

function Paused({ since, until }: { since: string; until: string | null }) {
  return (
    <>
      paused <MomentText at={since} full />
      {until && (
        <>
          {" "}
          until <MomentText at={until} full />
        </>
      )}
    </>
  );
}

function GateFacts({ stage }: { stage: StageOf<"gate"> }) {
  const deciders = Object.entries(stage.decision?.deciders ?? {});
  return joined([
    stage.until && (
      <>
        until <MomentText at={stage.until} full /> at most
      </>
    ),
    ...deciders.map(([job, run]) => (
      <>
        {job}: <RunLink id={run} />
      </>
    )),
  ]);
}

function workerSentence(stage: StageOf<"worker">): string {
  if (stage.waited !== null) return `A worker started it ${duration(stage.waited)} after it was due.`;
  if (stage.workers === 0) return "No worker of its queue is alive.";
  return `${counted(stage.workers, "worker")}, ${stage.running} of ${stage.slots} slots in use`;
}

function AttemptFacts({ stage }: { stage: StageOf<"attempt"> }) {
  return joined([
    stage.worker && `on ${workerName(stage.worker)}`,
    stage.started_at && <MomentText at={stage.started_at} full />,
    stage.started_at && stage.finished_at && (
      <Duration seconds={(Date.parse(stage.finished_at) - Date.parse(stage.started_at)) / 1_000} />
    ),
    stage.retry_at && (
      <>
        next attempt at <MomentText at={stage.retry_at} />
      </>
    ),
  ]);
}

/** The name of a worker; of one that no longer exists only the id is known, which is shortened. */
function workerName(worker: string): string {
  return ID.test(worker) ? `worker ${worker.slice(-8)}` : worker;
}

const ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** Names, those of runs as links: at most five. */
export function some(names: readonly string[]): ReactNode {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
  return (
    <>
      {names.slice(0, 5).map((name, index) => (
        <Fragment key={name}>
          {index > 0 && ", "}
          {ID.test(name) ? <RunLink id={name} /> : name}
        </Fragment>
      ))}
      {more}
    </>
  );
}

function joined(parts: readonly ReactNode[]): ReactNode {
  const shown = parts.filter(Boolean);
  if (shown.length === 0) return null;
  return shown.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one sentence have no other identity
    <Fragment key={index}>
      {index > 0 && ", "}
      {part}
    </Fragment>
  ));
}
