import type { WorkerView } from "@/api/types.gen";

export interface WorkerState {
  /** A status of the one table. */
  status: "success" | "running" | "cancelling" | "failed" | "paused";
  word: string;
}

/** What a worker does. */
export function stateOf(worker: WorkerView): WorkerState {
  if (!worker.is_alive) return { status: "failed", word: "lost" };
  if (worker.is_draining || worker.order === "drain") {
    return { status: "cancelling", word: worker.running > 0 ? "draining: finishes its runs" : "draining" };
  }
  if (worker.order === "pause") return { status: "paused", word: "paused" };
  return worker.running > 0 ? { status: "running", word: "" } : { status: "success", word: "idle" };
}
