/** A job as the form edits it. Pure. */
import type { JobDetail, ScheduleView } from "@/api/types.gen";
import { pairLines } from "./pairs";

export const KINDS = ["shell", "http", "python", "agent"] as const;
export type Kind = (typeof KINDS)[number];

/** Where each kind has its work: the key of the document, and the label of the field. */
export const WORK: Record<Kind, { key: string; label: string; example: string; isLong: boolean }> = {
  shell: { key: "command", label: "Command", example: "bin/backup --all", isLong: true },
  http: { key: "url", label: "URL", example: "https://shop.example/ping", isLong: false },
  python: { key: "call", label: "Function", example: "tasks:write_invoices", isLong: false },
  agent: { key: "prompt", label: "Prompt", example: "Summarise the errors of last night.", isLong: true },
};

/** When it runs: by a cron expression, in an interval, or only when somebody starts it. */
export const TIMINGS = ["cron", "every", "manual"] as const;
export type Timing = (typeof TIMINGS)[number];

export interface Draft {
  id: string;
  kind: Kind;
  work: string;
  method: string;
  /** "Name: value" in each line. */
  headers: string;
  body: string;
  expectStatus: string;
  workingDir: string;
  /** "NAME=value" in each line. */
  env: string;
  /** JSON. */
  payload: string;
  description: string;
  tags: string[];
  timing: Timing;
  cron: string;
  every: string;
  timezone: string;
  overlap: string;
  catchup: string;
  timeout: string;
  retries: number;
}

/** A job as JSON, with the keys of [[jobs]] in a configuration file. */
export type Document = Record<string, unknown>;

export function emptyDraft(timezone: string): Draft {
  return {
    id: "",
    kind: "shell",
    work: "",
    method: "GET",
    headers: "",
    body: "",
    expectStatus: "",
    workingDir: "",
    env: "",
    payload: "",
    description: "",
    tags: [],
    timing: "cron",
    cron: "0 9 * * MON-FRI",
    every: "5m",
    timezone,
    overlap: "skip",
    catchup: "once",
    timeout: "",
    retries: 0,
  };
}

/** Return why the form cannot edit a job, null if it can. */
export function onlyAsToml(job: JobDetail): string | null {
  if (job.document === null) return "Its function is in the code of an application.";
  if (!isKind(job.kind)) return `A ${job.kind} is edited as TOML.`;
  if (job.schedules.length > 1) return "A job with several schedules is edited as TOML.";
  if ("depends_on" in job.document) return "A job with dependencies is edited as TOML.";
  if ("argv" in job.document) return "A command with argv is edited as TOML.";
  const [schedule] = job.schedules;
  if (schedule && !schedule.schedule_id.endsWith(":default")) return "A job with a named schedule is edited as TOML.";
  return schedule?.schedule_type === "once" ? "A job that runs once is edited as TOML." : null;
}

const isKind = (kind: string): kind is Kind => (KINDS as readonly string[]).includes(kind);

/** Return the draft of a stored job that the form can edit. */
export function draftOf(job: JobDetail, timezone: string): Draft {
  const document = job.document ?? {};
  const kind = isKind(job.kind) ? job.kind : "shell";
  const [schedule] = job.schedules;
  const empty = emptyDraft(timezone);
  return {
    ...empty,
    id: job.id,
    kind,
    work: textOf(document[WORK[kind].key] ?? document.command),
    method: textOf(document.method) || "GET",
    headers: pairLines(document.headers, ": "),
    body: textOf(document.body),
    expectStatus: [document.expect_status ?? []].flat().map(statusText).join(", "),
    workingDir: textOf(document.working_dir),
    env: pairLines(document.env, "="),
    payload: document.payload === undefined ? "" : JSON.stringify(document.payload, null, 2),
    description: job.description,
    tags: job.tags,
    timeout: textOf(document.timeout),
    retries: Number(document.retries ?? 0),
    ...timingOf(schedule, empty),
  };
}

function timingOf(schedule: ScheduleView | undefined, empty: Draft): Partial<Draft> {
  if (!schedule) return { timing: "manual" };
  const shared = {
    timezone: schedule.timezone,
    overlap: schedule.overlap_policy,
    catchup: schedule.catchup_policy,
  };
  if (schedule.schedule_type === "interval") {
    return { ...shared, timing: "every", every: `${schedule.schedule_expr}s`, cron: empty.cron };
  }
  return { ...shared, timing: "cron", cron: schedule.schedule_expr };
}

const textOf = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

/** The API writes a single status as a range: "200-200". */
const statusText = (status: unknown): string => String(status).replace(/^(\d+)-\1$/, "$1");
