/** From an execution to what its steps look like in the graph and the table. Pure. */
import type { ExecutionPage, FanoutView, RunView, StepView, WorkflowStepView } from "@/api/types.gen";
import type { Count, NodeState } from "@/graph/types";
import { counted, duration } from "@/time/format";
import { stepWhy } from "./why";

/** What the list of runs adds to a step. */
export type StepRun = Pick<
  RunView,
  "id" | "child_key" | "status" | "due_at" | "started_at" | "finished_at" | "duration" | "attempt" | "progress"
>;

export interface Facts {
  /** The runs of the steps, by the id of the run. */
  runs: ReadonlyMap<string, StepRun>;
  /** All of them were read: a run that is not among them belongs to the execution that is repeated. */
  areAll?: boolean;
  /** The fanouts among them, by the id of the run. */
  fanouts: ReadonlyMap<string, FanoutView>;
  /** Formats a time in the chosen zone. */
  at: (time: string) => string;
}

const FAILURES: Record<string, string> = { failure: "failed" };

/** Return the name of the status of a step. */
export function statusOf(step: StepView, why: ExecutionPage["why_steps"][string] | undefined): string {
  if (step.result === "skipped") return "skipped";
  if (why?.code === "waits_for_answer") return "waits_for_approval";
  return step.status ?? (step.result === null ? "pending" : (FAILURES[step.result] ?? step.result));
}

/** Return the states of all steps by name. */
export function statesOf(
  page: ExecutionPage,
  steps: readonly WorkflowStepView[],
  facts: Facts,
): Map<string, NodeState> {
  const views = new Map(page.execution.steps.map((step) => [step.name, step]));
  const results = new Map(page.execution.steps.map((step) => [step.name, step.result]));
  const states = new Map<string, NodeState>();
  for (const step of steps) {
    const view = views.get(step.name);
    if (view) states.set(step.name, stateOf(step, view, page, results, facts));
  }
  return states;
}

function stateOf(
  step: WorkflowStepView,
  view: StepView,
  page: ExecutionPage,
  results: ReadonlyMap<string, string | null>,
  { runs, areAll, fanouts, at }: Facts,
): NodeState {
  const why = page.why_steps[view.name];
  const status = statusOf(view, why);
  const run = view.run_id === null ? undefined : runs.get(view.run_id);
  const fanout = view.run_id === null ? undefined : fanouts.get(view.run_id);
  const state: NodeState = { status };
  if (status === "pending" || (status === "scheduled" && !run?.started_at)) state.isToCome = true;
  if (status === "running" && run?.started_at) state.since = run.started_at;
  const note = status === "pending" ? pendingNote(step, results) : noteOf(status, run, fanout, stepWhy(why, at));
  if (note) state.note = note;
  else if (areAll && view.run_id !== null && !run) state.note = "kept from before";
  else if (step.kind === "approval" && status === "success") state.note = "approved";
  if (fanout) state.counts = countsOf(fanout);
  if (status === "waits_for_approval" || view.recovered_by.length > 0) state.isNoteworthy = true;
  if (status === "waits_for_approval" && run) state.note = `answer by ${at(run.due_at)}`;
  if (view.recovered_by.length > 0) state.note = `recovered by ${view.recovered_by.join(", ")}`;
  return state;
}

function noteOf(status: string, run: StepRun | undefined, fanout: FanoutView | undefined, why: string): string {
  const parts: string[] = [];
  const hasEndedWell = status === "success" || status === "partial";
  if (why && !hasEndedWell && status !== "running") parts.push(why);
  if (fanout) parts.push(counted(fanout.items, "item"));
  if (run?.progress && status === "running") parts.push(`${Math.floor(run.progress.fraction * 100)} %`);
  if (run?.duration != null) parts.push(duration(run.duration));
  if (run && run.attempt > 1) parts.push(`attempt ${run.attempt}`);
  if (why && status === "running" && parts.length === 0) parts.push(why);
  return parts.join(" · ");
}

/** What a step to come waits for: its parents that have no result, or the condition under which it runs. */
function pendingNote(step: WorkflowStepView, results: ReadonlyMap<string, string | null>): string {
  if (step.is_paused) return "paused: it is skipped";
  if (step.is_final) return "final, in any case";
  const [only] = step.after;
  if (only && step.after.length === 1 && only.words === "failure") return `only if ${only.step} fails`;
  const open = step.after.filter((edge) => results.get(edge.step) == null).map((edge) => edge.step);
  if (open.length === 0) return "";
  return open.length > 2 ? `waits for ${open.length} steps` : `waits for ${open.join(", ")}`;
}

/** The counts of a fanout in the order of the bar. */
export function countsOf(fanout: FanoutView): Count[] {
  return [
    { status: "success", count: fanout.succeeded },
    { status: "failed", count: fanout.failed },
    { status: "timeout", count: fanout.timed_out },
    { status: "running", count: fanout.running },
    { status: "cancelled", count: fanout.cancelled },
    { status: "skipped", count: fanout.skipped },
    { status: "pending", count: fanout.pending + fanout.waiting },
  ];
}

/** "7 of 13 steps have ended, 1 is under way." */
export function summaryOf(page: ExecutionPage): string {
  const { why } = page;
  switch (why.code) {
    case "in_progress": {
      const rest = why.total - why.resolved - why.under_way.length;
      const parts = [`${why.resolved} of ${counted(why.total, "step")} ended`];
      if (why.under_way.length > 0) parts.push(`${why.under_way.length} under way`);
      if (rest > 0) parts.push(`${rest} to come`);
      return `${parts.join(", ")}.`;
    }
    case "execution_ended": {
      const results = Object.entries(why.results).map(
        ([result, count]) => `${count.toLocaleString("en")} ${FAILURES[result] ?? result}`,
      );
      const recovered = Object.entries(why.recovered).map(([step, by]) => `${step} was recovered by ${by.join(", ")}`);
      return [`${counted(why.total, "step")}: ${results.join(", ")}.`, ...recovered.map((one) => `${one}.`)].join(" ");
    }
    case "execution_unreadable":
      return `It cannot continue: ${why.error}`;
    default:
      return "Cancellation was requested. Its steps are ending.";
  }
}
