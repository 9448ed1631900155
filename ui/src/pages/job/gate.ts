import type { Gate } from "@/api/types.gen";
import { duration } from "@/time/format";

const DAY = 86_400_000;
const ACTS = { skip: "skip", fail: "fail", run: "run anyway" } as const;

/** Return which runs of the dependencies count: "the latest run of each within 24 h, all must have succeeded". Pure. */
export function gateWords(gate: Gate): string {
  return `${windowWords(gate)}, all must have succeeded`;
}

function windowWords({ window = DAY, window_kind = "sliding", timezone = "UTC" }: Gate): string {
  switch (window_kind) {
    case "local_day":
      return `the latest run of each on the same day in ${timezone}`;
    case "since_last_success":
      return "the latest run of each since the last success of this job";
    default:
      return `the latest run of each within ${duration(window / 1_000)}`;
  }
}

/** Return what the gate does if a dependency is missing or has failed. Pure. */
export function unmetWords({ on_missing = "skip", on_dep_fail = "skip", wait = 0 }: Gate): string {
  const waits = wait > 0 ? `wait up to ${duration(wait / 1_000)}, then ` : "";
  if (on_missing === on_dep_fail) return `${waits}${ACTS[on_missing]}`;
  return `${waits}${ACTS[on_missing]} if it is missing, ${ACTS[on_dep_fail]} if it has failed`;
}
