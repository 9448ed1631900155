/** Why a run has its status, as sentences. The words of the machine stay beside them, on the page. */
import type { Reason, RunPage, Unfit } from "@/api/types.gen";
import { counted, duration } from "@/time/format";

export type Why = RunPage["why"];

/** Reasons of an end. One that is not listed, of a newer server, is shown as it is. */
export const REASON_WORDS: Partial<Record<Reason, string>> = {
  exception: "the function raised an exception",
  exit_code: "the command exited with a code other than 0",
  signal: "the command was ended by a signal",
  timeout: "it exceeded its timeout",
  cancelled: "it was cancelled",
  lease_lost: "its worker was lost",
  restart: "its worker was stopped, and delivery is at_most_once",
  launch_failed: "it could not be started",
  executor_failed: "the executor of the application reported a failure",
  limit_memory: "it exceeded its memory limit",
  limit_cpu: "it exceeded its limit of processor time",
  limit_file_size: "it wrote a file larger than its limit",
  handler_missing: "the worker has no function of that name",
  payload: "the payload does not match the function",
  output: "its return value could not be stored",
  http_status: "the response had an unexpected status",
  connection: "the address could not be reached",
  ssrf_blocked: "jobs are not allowed to reach this address",
  dep_missing: "a job that it depends on has no finished run in the window",
  dep_failed: "a job that it depends on did not succeed",
  cooldown: "its gate declined a short time ago and is in its cooldown",
  step_failed: "one of its steps failed",
  inputs: "its items could not be read",
  items_failed: "more items failed than its partial_tolerance allows",
  reducer_failed: "its reducer did not succeed",
  rejected: "it was rejected",
  marked: "it was marked as a success",
  chain_escalated: "the chain escalated: a person must act",
  chain_failed: "the chain failed",
  chain_expired: "the chain expired",
  chain_refused: "the scout found something, but no chain was armed",
  breaker_open: "the breaker of its class opened",
};

export const reasonWords = (reason: string | null | undefined): string =>
  reason ? (REASON_WORDS[reason as Reason] ?? reason.replaceAll("_", " ")) : "";

/** Return the end of a run or item in a few words, for a column: its error, else its reason. */
export function endText(run: {
  status: string;
  reason: string | null;
  exit_code: number | null;
  error_message: string | null;
}): string {
  const code = run.exit_code ? `exit code ${run.exit_code}` : "";
  const error = lastLine(run.error_message);
  if (run.status === "failed" || run.status === "timeout") {
    if (error && code && !error.includes(code)) return `${code}: ${error}`;
    return error || code || reasonWords(run.reason);
  }
  return reasonWords(run.reason);
}

/** The last line of an error says most: a traceback ends with its exception. */
export const lastLine = (text: string | null | undefined): string => text?.trim().split("\n").at(-1)?.trim() ?? "";

const MOST_NAMED = 5;

export function some(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return names.slice(0, MOST_NAMED).join(", ") + more;
}

/** Return why a run has its status now. `at` formats a time in the chosen zone. */
export function whyText(why: Why, at: (time: string) => string): string {
  switch (why.code) {
    case "due":
      return `It is due at ${at(why.due_at)}.`;
    case "retry_due":
      return `Attempt ${why.attempt} did not succeed. The next attempt is due at ${at(why.due_at)}.`;
    case "waits_for_gate":
      return `It waits for its gate: ${some(why.depends_on)}${why.until ? `, until ${at(why.until)} at most` : ""}.`;
    case "no_worker":
      return why.queue.startsWith("@")
        ? "No server is alive that runs it. Start one with: foliot serve"
        : `No worker of queue "${why.queue}" is alive. Start one with: ${workerCommand(why.queue, why.needs)}`;
    case "no_fitting_worker":
      return `No worker of queue "${why.queue}" may have it now: ${why.workers.map(unfit).join("; ")}.`;
    case "waits_for_limit":
      if (!why.option) return `It waits for the end of ${some(why.holders) || "an earlier run"}.`;
      return `It waits: ${why.option}=${why.value}${why.holders.length > 0 ? `, held by ${some(why.holders)}` : ""}.`;
    case "no_free_slot":
      return `All ${counted(why.slots, "slot")} of its workers are in use.`;
    case "waits_for_turn":
      return "It waits for its turn.";
    case "waits_for_answer":
      return `Step ${why.step} waits for approval.`;
    case "running":
      return why.attempt > 1 ? `Attempt ${why.attempt} is running.` : "It is running.";
    case "cancel_requested":
      return "Cancellation was requested. Its worker is ending it.";
    case "succeeded":
      if (why.reason) return sentence(reasonWords(why.reason));
      return why.attempt > 1
        ? `Attempt ${why.attempt} succeeded in ${duration(why.duration)}.`
        : `It succeeded in ${duration(why.duration)}.`;
    case "ended":
      return endedText(why);
    case "unreadable":
      return "Its row was not written by Foliot. Restore it from a backup, or start a new run.";
    default:
      return partsText(why, at);
  }
}

type Simple = "ended" | "unreadable" | "succeeded" | "running" | "due" | "retry_due" | "cancel_requested";
/** The command that starts a worker with what a run needs: labels, and "executor=worker" for a remote one. */
function workerCommand(queue: string, needs: string[]): string {
  const server = needs.includes("executor=worker") ? " --server URL" : "";
  const labels = needs.filter((one) => !one.includes("=")).map((one) => ` --label ${one}`);
  return `foliot worker${server}${labels.join("")} --queue ${queue}`;
}

/** Why a living worker does not get a run: "build-7 of gpus lacks gpu". */
function unfit({ worker, pool, missing, is_paused, is_draining }: Unfit): string {
  const name = pool === "" || pool === worker ? worker : `${worker} of ${pool}`;
  if (is_draining) return `${name} is draining`;
  return is_paused ? `${name} is paused` : `${name} lacks ${some(missing)}`;
}

type Waits =
  | "waits_for_gate"
  | "no_fitting_worker"
  | "no_worker"
  | "waits_for_limit"
  | "no_free_slot"
  | "waits_for_turn"
  | "waits_for_answer";
type OfParts = Exclude<Why, { code: Simple | Waits }>;

function partsText(why: OfParts, at: (time: string) => string): string {
  switch (why.code) {
    case "steps_ending":
      return "Cancellation was requested. Its steps are ending.";
    case "in_progress":
      return `${why.resolved} of ${counted(why.total, "step")} have ended${why.under_way.length > 0 ? `; now: ${some(why.under_way)}` : ""}.`;
    case "execution_ended": {
      const results = Object.entries(why.results).map(([result, count]) => `${count} ${result}`);
      const failed = why.failed.length > 0 ? ` Failed: ${some(why.failed)}.` : "";
      return `${counted(why.total, "step")}: ${results.join(", ")}.${failed}`;
    }
    case "fanout_running":
      if (why.is_reducing) return `${counted(why.total, "item")} have ended. Its reducer has not.`;
      return `${why.ended} of ${counted(why.total, "item")} have ended, ${why.running} run now (concurrency ${why.concurrency}).`;
    case "fanout_ending":
      return `No more items are started. ${why.running} still run.`;
    case "fanout_ended": {
      const counts = Object.entries(why.counts).map(([name, count]) => `${count} ${name.replaceAll("_", " ")}`);
      return `${why.reason ? `${sentence(reasonWords(why.reason))} ` : ""}${counted(why.total, "item")}: ${counts.join(", ")}.`;
    }
    case "chain_in_progress": {
      const state = why.chain_id
        ? `Chain ${why.chain_id} is ${why.chain_state.replaceAll("_", " ")}.`
        : "No chain is armed yet.";
      const steps = why.steps.map((step) => ` ${step.step} begins at ${at(step.begins_at)}, because ${step.cause}.`);
      return state + steps.join("");
    }
    case "chain_ended":
      if (!why.chain_id) return why.reason ? sentence(reasonWords(why.reason)) : "The scout found nothing to do.";
      return `Chain ${why.chain_id} is closed (${(why.outcome ?? "closed").replaceAll("_", " ")})${why.cause ? `: ${why.cause}` : ""}.`;
    case "execution_unreadable":
      return "It is blocked until it is repaired or cancelled.";
  }
}

function endedText(why: Extract<Why, { code: "ended" }>): string {
  const reason = why.reason ? reasonWords(why.reason) : `it ended as ${why.status}`;
  const tries = why.attempts > 1 ? `, after ${counted(why.attempts, "attempt")}` : "";
  return `${sentence(reason + tries)}${why.has_no_retries ? " The job has no retries." : ""}`;
}

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
