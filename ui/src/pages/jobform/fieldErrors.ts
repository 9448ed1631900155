import type { ApiError } from "@/api/error";
import type { Draft } from "./draft";

const FIELDS: Record<string, keyof Draft> = {
  id: "id",
  job_id: "id",
  kind: "kind",
  command: "work",
  url: "work",
  call: "work",
  prompt: "work",
  method: "method",
  headers: "headers",
  body: "body",
  expect_status: "expectStatus",
  working_dir: "workingDir",
  env: "env",
  payload: "payload",
  description: "description",
  tags: "tags",
  timeout: "timeout",
  retries: "retries",
  cron: "cron",
  every: "every",
  timezone: "timezone",
};

/** Return the problems of an answer by the field of the form that each belongs to. */
export function fieldErrors({ message, hint, field, problems }: ApiError): Partial<Record<keyof Draft, string>> {
  const all = problems.length > 0 ? problems : [{ field, message, hint }];
  const known = all.flatMap((one) => {
    const name = FIELDS[/^(?:\$\.)?(\w+)/.exec(one.field ?? "")?.[1] ?? ""];
    return name ? [[name, [one.message, one.hint].filter(Boolean).join(". ")] as const] : [];
  });
  return Object.fromEntries(known);
}
