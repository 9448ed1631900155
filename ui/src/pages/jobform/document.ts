/** The document of the API that a draft becomes. Pure. */
import { readPayload } from "@/pages/jobs/payload";
import { type Document, type Draft, WORK } from "./draft";
import { readPairs } from "./pairs";

/** Keys that the form owns: what the stored document has of them is replaced. */
const OWNED = [
  ...["id", "kind", "description", "tags", "timeout", "retries", "payload"],
  ...["command", "working_dir", "env", "call", "prompt"],
  ...["url", "method", "headers", "body", "expect_status"],
];
const OF_SCHEDULES = ["name", "cron", "every", "at", "manual", "timezone", "overlap", "catchup"];

/** Return the document of a draft. What `stored` has beside it is kept, such as its limits. */
export function documentOf(draft: Draft, stored: Document = {}): Document {
  const document: Document = { id: draft.id.trim(), kind: draft.kind, [WORK[draft.kind].key]: draft.work };
  Object.assign(document, draft.kind === "http" ? request(draft) : process(draft));
  if (draft.description.trim()) document.description = draft.description.trim();
  if (draft.tags.length > 0) document.tags = draft.tags;
  if (draft.timeout.trim()) document.timeout = numberOrText(draft.timeout);
  if (draft.retries > 0) document.retries = draft.retries;
  const { payload } = readPayload(draft.payload);
  if (payload !== undefined) document.payload = payload;
  const kept = without(stored, [...OWNED, ...OF_SCHEDULES.slice(1), "schedule", "schedules"]);
  return { ...document, ...timing(draft, stored), ...kept };
}

function process({ workingDir, env }: Draft): Document {
  return {
    ...(workingDir.trim() ? { working_dir: workingDir.trim() } : {}),
    ...(env.trim() ? { env: readPairs(env, "=") } : {}),
  };
}

function request({ method, headers, body, expectStatus }: Draft): Document {
  const statuses = expectStatus.split(",").map(numberOrText).filter(Boolean);
  return {
    ...(method === "GET" ? {} : { method }),
    ...(headers.trim() ? { headers: readPairs(headers, ":") } : {}),
    ...(body ? { body } : {}),
    ...(statuses.length > 0 ? { expect_status: statuses.length === 1 ? statuses[0] : statuses } : {}),
  };
}

function timing(draft: Draft, stored: Document): Document {
  if (draft.timing === "manual") return {};
  return {
    [draft.timing]: draft.timing === "cron" ? draft.cron.trim() : numberOrText(draft.every),
    timezone: draft.timezone.trim(),
    overlap: draft.overlap,
    catchup: draft.catchup,
    ...otherSettings(stored),
  };
}

/** Return the settings of the stored schedule that the form does not show, such as jitter. */
export function otherSettings(stored: Document): Document {
  const [schedule] = (stored.schedules as Document[] | undefined) ?? [];
  return without(schedule ?? {}, OF_SCHEDULES);
}

const without = (document: Document, keys: readonly string[]): Document =>
  Object.fromEntries(Object.entries(document).filter(([key]) => !keys.includes(key)));

/** "30" is a number of seconds, "30s" is text. */
function numberOrText(value: string): number | string {
  const written = value.trim();
  return written !== "" && Number.isFinite(Number(written)) ? Number(written) : written;
}
