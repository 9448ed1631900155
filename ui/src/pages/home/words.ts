/** Why a run failed, or waits, in words. Pure. */
import type { RunBrief, StatusPage, WaitingRun } from "@/api/types.gen";
import { joined } from "@/pages/jobs/words";
import { bytes, counted, duration } from "@/time/format";

const CAUSES: Record<string, string> = {
  timeout: "took longer than its timeout",
  lease_lost: "its worker stopped answering",
  restart: "the server was restarted while it ran",
  launch_failed: "the command could not be started",
  limit_memory: "used more memory than it may",
  limit_cpu: "used more CPU time than it may",
  limit_file_size: "wrote a larger file than it may",
  handler_missing: "no worker has its function",
  payload: "its parameters are not valid",
  output: "its output is not valid",
  connection: "the server of the request did not answer",
  ssrf_blocked: "the address of the request is not allowed",
  dep_missing: "a job that it depends on has not run",
  dep_failed: "a job that it depends on has failed",
  step_failed: "a step failed",
  inputs: "its items could not be read",
  items_failed: "too many of its items failed",
  reducer_failed: "its reducer failed",
  rejected: "a person rejected it",
  executor_failed: "its executor failed",
  chain_escalated: "the chain escalated",
  chain_failed: "the chain failed",
  chain_expired: "the chain took too long",
  chain_refused: "the chain was refused",
  breaker_open: "the breaker was open",
};

/** Return the cause of a failed run: "exit code 69", "took longer than its timeout: ...". */
export function causeOf(run: Pick<RunBrief, "reason" | "exit_code" | "error_message">): string {
  const message = run.error_message?.trim() ?? "";
  const words = run.reason === null ? "" : (CAUSES[run.reason] ?? "");
  const [line = ""] = message.split("\n");
  const reason = run.reason?.replaceAll("_", " ") ?? "failed";
  if (!words) return line || (run.exit_code !== null ? `exit code ${run.exit_code}` : reason);
  return line && !line.toLowerCase().includes(words) ? `${words}: ${line}` : words;
}

/** Return why a run has not begun. */
export function waitOf(why: WaitingRun["why"]): string {
  switch (why.code) {
    case "waits_for_limit":
      return limitWords(why);
    case "no_worker":
      return `No worker serves the queue ${why.queue}.`;
    case "no_free_slot":
      return `All ${counted(why.slots, "slot")} are in use.`;
    case "waits_for_gate":
      return `Waits for ${joined(why.depends_on)}.`;
    case "waits_for_turn":
      return "Other runs are before it.";
    case "waits_for_answer":
      return `Waits for an approval of ${why.step}.`;
    case "retry_due":
      return `Waits for attempt ${why.attempt}.`;
    case "due":
      return "Due now.";
    default:
      return "";
  }
}

interface Limit {
  option: string | null;
  value: number | string | null;
  holders: string[];
}

function limitWords({ option, value, holders }: Limit): string {
  const limit = option === null ? "a limit" : `${option}${value === null ? "" : ` = ${value}`}`;
  const by = holders.length > 0 ? `, held by ${joined(holders.slice(0, 3).map(shortId))}` : "";
  return `Waits for ${limit}${by}.`;
}

const shortId = (id: string): string => (id.length === 26 ? id.slice(-8) : id);

type Notice = StatusPage["notices"][number];

/** Return a notice of the server in words, or null if another part of Home shows it. */
export function noticeWords(notice: Notice): string | null {
  switch (notice.code) {
    case "storage_unreachable":
      return `${notice.message} ${notice.hint}`;
    case "no_scheduler":
      return "Start one with foliot serve.";
    case "no_worker":
      return "Start one with foliot worker, or foliot serve.";
    case "queues_unserved":
      return `No worker serves ${notice.queues.length === 1 ? "the queue" : "the queues"} ${joined(notice.queues)}.`;
    case "schedules_late":
      return `${counted(notice.count, "schedule")} behind: ${joined(notice.schedules.slice(0, 5))}.`;
    case "jobs_stopped":
      return `Stopped after failures: ${joined(notice.jobs.slice(0, 5))}. Resume them when the cause is gone.`;
    case "disk_low":
      return `Only ${bytes(notice.free)} of disk are free.`;
    case "deliveries_failed":
      return `${counted(notice.count, "notification")} to ${joined(notice.targets)} failed${notice.answer ? `: ${notice.answer}` : ""}.`;
    case "clock_set_back":
      return `The clock was set back by ${duration(notice.by)}.`;
    case "clock_set_forward":
      return `The clock was set forward by ${duration(notice.by)}.`;
    case "clocks_differ":
      return `The clocks of ${counted(notice.nodes.length, "machine")} differ from that of the database.`;
    default:
      return null;
  }
}

const MISSED: Record<string, string> = {
  down: "no scheduler was running",
  too_old: "too old to catch up when a scheduler was running again",
};

/** Return why planned times were missed. */
export function missedWords(reasons: readonly string[]): string {
  return joined(reasons.map((reason) => MISSED[reason] ?? reason.replaceAll("_", " ")));
}
