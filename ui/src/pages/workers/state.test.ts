import { expect, it } from "vitest";
import type { WorkerView } from "@/api/types.gen";
import { stateOf } from "./state";

const worker = (facts: Partial<WorkerView>): WorkerView =>
  ({ is_alive: true, is_draining: false, order: "", running: 0, slots: 4, ...facts }) as WorkerView;

it("says what a worker does", () => {
  expect(stateOf(worker({})).word).toBe("idle");
  expect(stateOf(worker({ running: 2 })).status).toBe("running");
  expect(stateOf(worker({ running: 2, is_draining: true })).status).toBe("cancelling");
  expect(stateOf(worker({ is_draining: true, is_alive: false })).word).toBe("lost");
});

it("shows an order before the worker has followed it", () => {
  expect(stateOf(worker({ running: 2, order: "pause" })).word).toBe("paused");
  expect(stateOf(worker({ order: "drain" })).status).toBe("cancelling");
});
