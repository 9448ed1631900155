import { describe, expect, it } from "vitest";
import type { ExecutionPage, FanoutView, StepView, WorkflowStepView } from "@/api/types.gen";
import { type Facts, statesOf, statusOf, summaryOf } from "./states";
import { stepWhy } from "./why";

const view = (name: string, given: Partial<StepView> = {}): StepView => ({
  name,
  result: null,
  status: null,
  run_id: null,
  reason: "",
  blockers: [],
  cause: null,
  error: null,
  recovered_by: [],
  ...given,
});
const step = (name: string, ...after: [step: string, when: string][]): WorkflowStepView => ({
  name,
  layer: 1,
  kind: "shell",
  job: null,
  is_final: false,
  recovers: false,
  is_paused: false,
  after: after.map(([parent, when]) => ({ step: parent, when: [when], test: null, words: when })),
});
const page = (steps: StepView[], why_steps: ExecutionPage["why_steps"] = {}): ExecutionPage => ({
  execution: { id: "E", workflow_id: "w", status: "running", steps } as ExecutionPage["execution"],
  why: { code: "in_progress", resolved: 1, total: 4, under_way: ["b"] },
  why_steps,
  waits: {},
});
const NONE: Facts = { runs: new Map(), fanouts: new Map(), at: () => "14:00" };

describe("the states of steps", () => {
  it("name what a step to come waits for", () => {
    const steps = [step("a"), step("b"), step("c", ["a", "success"], ["b", "success"])];
    const states = statesOf(
      page([view("a", { result: "success", status: "success" }), view("b"), view("c")]),
      steps,
      NONE,
    );
    expect(states.get("c")).toMatchObject({ status: "pending", isToCome: true, note: "waits for b" });
  });

  it("say the condition of a branch that may not run", () => {
    const states = statesOf(page([view("a"), view("b")]), [step("a"), step("b", ["a", "failure"])], NONE);
    expect(states.get("b")?.note).toBe("only if a fails");
  });

  it("tell skipped from failed", () => {
    expect(statusOf(view("a", { result: "skipped" }), undefined)).toBe("skipped");
    expect(statusOf(view("a", { result: "failure" }), undefined)).toBe("failed");
    expect(statusOf(view("a", { result: "failure", status: "timeout" }), undefined)).toBe("timeout");
  });

  it("show that a person has to answer", () => {
    const why = { code: "waits_for_answer", execution_id: "E", step: "a" } as const;
    const run = { id: "R", child_key: "a", status: "scheduled", due_at: "2026-11-21T18:00:00Z", attempt: 0 };
    const facts = { ...NONE, runs: new Map([["R", run as never]]) };
    const states = statesOf(page([view("a", { status: "scheduled", run_id: "R" })], { a: why }), [step("a")], facts);
    expect(states.get("a")).toMatchObject({ status: "waits_for_approval", note: "answer by 14:00" });
  });

  it("tell which results were kept from the execution that is repeated", () => {
    const kept = page([view("a", { status: "success", result: "success", run_id: "OLD" })]);
    expect(statesOf(kept, [step("a")], NONE).get("a")?.note).toBeUndefined();
    expect(statesOf(kept, [step("a")], { ...NONE, areAll: true }).get("a")?.note).toBe("kept from before");
  });

  it("count the items of a fanout", () => {
    const fanout = { items: 64, succeeded: 61, failed: 3, pending: 0, waiting: 0 } as FanoutView;
    const facts = { ...NONE, fanouts: new Map([["R", fanout]]) };
    const states = statesOf(
      page([view("a", { status: "partial", result: "success", run_id: "R" })]),
      [step("a")],
      facts,
    );
    expect(states.get("a")?.note).toBe("64 items");
    expect(states.get("a")?.counts?.[0]).toEqual({ status: "success", count: 61 });
  });

  it("are summed up in a sentence", () => {
    expect(summaryOf(page([]))).toBe("1 of 4 steps ended, 1 under way, 2 to come.");
  });
});

describe("why a step was skipped", () => {
  const at = () => "";
  it("names the parent", () => {
    const block = { step: "load", result: "failure", run_id: null, edge: { parent: "load" }, is_output_wrong: false };
    expect(stepWhy({ code: "blocked", steps: [block as never] }, at)).toBe("load failed");
  });

  it("shows the word of a newer server as it is", () => {
    expect(stepWhy({ code: "no_quiet_hour" } as never, at)).toBe("no quiet hour");
  });
});
