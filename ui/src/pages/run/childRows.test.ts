import { expect, test } from "vitest";
import type { RunPage, RunView, StepView } from "@/api/types.gen";
import { childRows, mostTelling } from "./childRows";

const step = (name: string, given: Partial<StepView>): StepView => ({
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
const run = (id: string, given: Partial<RunView>): RunView =>
  ({
    id,
    job_id: "job",
    child_key: id,
    status: "success",
    reason: null,
    exit_code: null,
    error_message: null,
    ...given,
  }) as RunView;
const pageOf = (steps: StepView[]): RunPage =>
  ({ run: { kind: "execution" }, execution: { execution: { steps } } }) as unknown as RunPage;

test("a step that never ran is listed with what it was skipped for", () => {
  const rows = childRows(pageOf([step("load", { result: "skipped", blockers: ["extract"] })]), []);
  expect(rows).toMatchObject([{ name: "load", status: "skipped", run: undefined, why: "because of extract" }]);
});

test("a step has the status and the error of its run", () => {
  const steps = [step("load", { status: "failed", run_id: "A", result: "failure" })];
  const failed = run("A", { status: "failed", exit_code: 4 });
  expect(childRows(pageOf(steps), [failed])).toMatchObject([{ name: "load", status: "failed", why: "exit code 4" }]);
});

test("a run that its execution does not name is listed too", () => {
  expect(childRows(pageOf([]), [run("B", {})]).map((row) => row.name)).toEqual(["B"]);
});

test("the log that is shown first is that of the first failure, else of what runs", () => {
  const rows = (runs: RunView[]) => childRows({ run: { kind: "chain" }, execution: null } as unknown as RunPage, runs);
  const ended = run("A", { started_at: "2026-11-18T12:00:00Z" });
  const running = run("B", { status: "running", started_at: "2026-11-18T12:00:01Z" });
  const failed = run("C", { status: "failed", started_at: "2026-11-18T12:00:02Z" });
  expect(mostTelling(rows([ended, running, failed]))?.id).toBe("C");
  expect(mostTelling(rows([ended, running]))?.id).toBe("B");
  expect(mostTelling(rows([ended]))?.id).toBe("A");
  expect(mostTelling([])).toBeUndefined();
});
