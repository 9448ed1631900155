import type { ReactNode } from "react";
import type { ChangeKind, ExplainedPath } from "@/api/types.gen";
import { MomentText } from "@/parts/times";
import { some } from "./stages";

const WORDS: Record<ChangeKind, string> = {
  answered: "When a person approves or rejects it.",
  at_time: "When it is due.",
  attempt_ends: "When the attempt ends.",
  chain_goes_on: "When the current step of its chain ends.",
  decided: "As soon as a scheduler decides it. If that takes long, see the log of the server.",
  gate_decides: "When the jobs that it depends on end.",
  items_end: "When its items end.",
  never: "No.",
  repaired: "When the row is restored from a backup, or the run is cancelled.",
  resumed: "When the schedule is resumed, its next ticks run.",
  run_ends: "When an earlier run ends.",
  scheduler_starts: "When a scheduler is started: foliot serve",
  slot_frees: "When a slot of a worker is free.",
  steps_end: "When its steps end.",
  worker_starts: "When a worker of its queue is started: foliot worker",
};

/** What can change the state of a tick or a run, and when. */
export function changeOf(path: ExplainedPath): ReactNode {
  const { kind, at, waits_for: names } = path.change;
  return (
    <>
      {kind === "never" ? neverWords(path) : WORDS[kind]}
      {names.length > 0 && <> {some(names)}</>}
      {at && (
        <>
          {" "}
          At <MomentText at={at} full />
          {kind === "at_time" ? "." : " at the latest."}
        </>
      )}
    </>
  );
}

function neverWords(path: ExplainedPath): string {
  if (path.run_id !== null) return "No, the run has ended. It can be repeated.";
  return path.stages.some((stage) => stage.stage === "tick" && stage.decided_at !== null)
    ? "No, a tick is decided only once. A run that is started now does not change it."
    : WORDS.never;
}
