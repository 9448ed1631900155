/** The rows below a run: its child runs, and steps that have none. */
import type { RunPage, RunView, StepView } from "@/api/types.gen";
import { endText, lastLine, reasonWords, some } from "./why";

export interface ChildRow {
  key: string;
  name: string;
  status: string;
  run: RunView | undefined;
  why: string;
}

export function childRows(page: RunPage, children: readonly RunView[]): ChildRow[] {
  const steps = page.run.kind === "execution" ? page.execution?.execution.steps : undefined;
  if (!steps) return children.map(rowOfRun);
  const byId = new Map(children.map((run) => [run.id, run]));
  const rows = steps.map((step) => rowOfStep(step, byId.get(step.run_id ?? "")));
  // A run that its execution does not name any more is kept: it must be reachable.
  const named = new Set(steps.map((step) => step.run_id));
  return [...rows, ...children.filter((run) => !named.has(run.id)).map(rowOfRun)];
}

function rowOfRun(run: RunView): ChildRow {
  return { key: run.id, name: run.child_key ?? run.job_id, status: run.status, run, why: endText(run) };
}

const RESULTS: Record<string, string> = { success: "success", failure: "failed", skipped: "skipped" };

function rowOfStep(step: StepView, run: RunView | undefined): ChildRow {
  const status = run?.status ?? step.status ?? (step.result ? (RESULTS[step.result] ?? step.result) : "pending");
  return { key: `step ${step.name}`, name: step.name, status, run, why: whyOfStep(step, run) };
}

function whyOfStep(step: StepView, run: RunView | undefined): string {
  if (step.recovered_by.length > 0) return `recovered by ${some(step.recovered_by)}`;
  const end = run ? endText(run) : "";
  if (end) return end;
  if (step.error) return lastLine(step.error);
  if (step.blockers.length > 0) return `${step.result ? "because of" : "waits for"} ${some(step.blockers)}`;
  return step.reason === "success" || run?.status === "success" ? "" : reasonWords(step.reason || step.cause);
}

/** Return the run whose log says most: one that failed, else one that runs, else the last that has started. */
export function mostTelling(rows: readonly ChildRow[]): RunView | undefined {
  const all = rows.flatMap((row) => (row.run ? [row.run] : []));
  return (
    all.find((run) => run.status === "failed" || run.status === "timeout") ??
    all.find((run) => run.status === "running" || run.status === "cancelling") ??
    all.filter((run) => run.started_at).at(-1)
  );
}
