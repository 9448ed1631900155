/** Why a step is where it is, in one line. Pure. */
import type { BlockingStep, ExecutionPage } from "@/api/types.gen";
import { counted } from "@/time/format";

export type StepWhy = ExecutionPage["why_steps"][string];

const REASONS: Record<string, string> = {
  paused: "the step is paused",
  job_paused: "its job is paused",
  removed: "a newer version no longer has it",
  overlap: "an earlier run has not ended",
  cancelled: "the execution was cancelled",
  marked: "it was marked as a success",
};

/** Return why a step waits, was skipped or has ended; "" if its status says all. `at` formats a time. */
export function stepWhy(why: StepWhy | undefined, at: (time: string) => string): string {
  if (!why) return "";
  switch (why.code) {
    case "step_reason":
      return REASONS[why.reason] ?? why.reason.replaceAll("_", " ");
    case "blocked":
      return why.steps.map(blockWords).join("; ");
    case "execution_timed_out":
      return "the execution ran out of time";
    case "step_run_ended":
      return lastLine(why.error) || why.cause?.replaceAll("_", " ") || "";
    case "waits_for_steps":
      return `waits for ${some(why.steps)}`;
    case "due":
      return `due at ${at(why.due_at)}`;
    case "retry_due":
      return `attempt ${why.attempt} failed, next at ${at(why.due_at)}`;
    case "waits_for_gate":
      return `waits for its gate: ${some(why.depends_on)}`;
    case "no_worker":
      return `no worker of queue "${why.queue}" is alive`;
    case "waits_for_limit":
      return why.option ? `waits: ${why.option}=${why.value}` : `waits for ${some(why.holders) || "an earlier run"}`;
    case "no_free_slot":
      return `all ${counted(why.slots, "slot")} are in use`;
    case "waits_for_turn":
      return "waits for its turn";
    case "waits_for_answer":
      return "a person has to answer";
    case "cancel_requested":
      return "cancellation requested";
    case "unreadable":
      return "its row cannot be read";
    case "running":
      return why.attempt > 1 ? `attempt ${why.attempt}` : "";
    case "succeeded":
      return why.reason ? (REASONS[why.reason] ?? why.reason.replaceAll("_", " ")) : "";
    case "ended":
      return why.reason?.replaceAll("_", " ") ?? "";
    default:
      return (why as { code: string }).code.replaceAll("_", " ");
  }
}

function blockWords({ step, result, edge, is_output_wrong }: BlockingStep): string {
  // An edge with the usual condition has no "when" in the answer of the server.
  const when: readonly string[] = edge.when ?? ["success"];
  if (is_output_wrong) return `the output of ${step} did not pass the test`;
  if (when.length === 1 && when[0] === "failure") return `only if ${step} fails`;
  if (when.length === 1 && when[0] === "skipped") return `only if ${step} is skipped`;
  if (result === "failure" || result === "failed") return `${step} failed`;
  return result === "skipped" ? `${step} was skipped` : `${step}: ${result ?? "no result"}`;
}

const MOST_NAMED = 3;

export function some(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return names.slice(0, MOST_NAMED).join(", ") + more;
}

/** The last line of an error says most: a traceback ends with its exception. */
export function lastLine(text: string | null | undefined): string {
  return text?.trim().split("\n").at(-1)?.trim() ?? "";
}
