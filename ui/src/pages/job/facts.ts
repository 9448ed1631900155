/** The document of a job as facts. Pure. */
import { duration } from "@/time/format";

export interface Fact {
  name: string;
  value: string;
  /** Shown in the mono font, with its lines. */
  isCode: boolean;
}

/** What other parts of the page show. */
const ELSEWHERE = new Set([
  "id",
  "name",
  "description",
  "tags",
  "schedules",
  "cron",
  "every",
  "at",
  "timezone",
  "overlap",
  "catchup",
  "jitter",
  "depends_on",
  "window",
  "window_kind",
  "wait",
  "on_missing",
  "on_dep_fail",
]);
const SPANS = /^(timeout|retry_delay|window|wait|cooldown|grace|.*_sec|.*_timeout|.*_delay|.*_after)$/;
const CODE = new Set(["command", "call", "url", "prompt", "cli", "working_dir", "inputs_from", "payload", "cwd"]);
const FIRST = ["kind", "command", "url", "method", "call", "prompt", "cli"];

/** Return the settings of a job that its document has, the work first. */
export function factsOf(document: Record<string, unknown>): Fact[] {
  const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return Object.entries(document)
    .filter(([name, value]) => !ELSEWHERE.has(name) && value !== null && value !== undefined && value !== "")
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([name, value]) => ({
      name: name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " "),
      value: textOf(name, value),
      isCode: CODE.has(name) || isObject(value),
    }));
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "number") return SPANS.test(name) ? duration(value) : value.toLocaleString("en");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value.trimEnd();
  if (Array.isArray(value) && value.every((one) => typeof one === "string" || typeof one === "number"))
    return value.join(", ");
  return JSON.stringify(value, null, 2);
}

const isObject = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  !(Array.isArray(value) && value.every((one) => typeof one !== "object"));
