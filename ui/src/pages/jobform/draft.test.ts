import { describe, expect, it } from "vitest";
import type { JobDetail } from "@/api/types.gen";
import { documentOf } from "./document";
import { draftOf, emptyDraft, onlyAsToml } from "./draft";
import { pairProblem, readPairs } from "./pairs";

const stored = (facts: Partial<JobDetail>): JobDetail =>
  ({ id: "ping", kind: "http", description: "", tags: [], schedules: [], document: {}, ...facts }) as JobDetail;
const schedule = { schedule_id: "ping:default", schedule_type: "cron", schedule_expr: "*/5 * * * *", timezone: "UTC" };

const MORE = { headers: { Authorization: "***" }, body: "***", expect_status: [200, "2xx"], payload: { a: 1 } };

describe("documentOf", () => {
  it("has the keys of a configuration file, and nothing that was left empty", () => {
    const draft = { ...emptyDraft("Europe/Berlin"), id: " backup ", work: "bin/backup", timeout: "2h" };

    expect(documentOf(draft)).toEqual({
      id: "backup",
      kind: "shell",
      command: "bin/backup",
      timeout: "2h",
      cron: "0 9 * * MON-FRI",
      timezone: "Europe/Berlin",
      overlap: "skip",
      catchup: "once",
    });
  });

  it("keeps what the form does not show, and replaces what it shows", () => {
    const draft = { ...emptyDraft("UTC"), id: "ping", work: "false", timing: "manual" as const, timeout: "30" };

    expect(documentOf(draft, { id: "ping", command: "true", limits: { files: 9 }, retries: 3, schedules: [] })).toEqual(
      {
        id: "ping",
        kind: "shell",
        command: "false",
        timeout: 30,
        limits: { files: 9 },
      },
    );
  });

  it("keeps the settings of a schedule that the form does not show", () => {
    const stored = { schedules: [{ name: "default", cron: "@daily", overlap: "allow", jitter: 10, dom_dow: "and" }] };

    expect(documentOf({ ...emptyDraft("UTC"), id: "a", work: "b" }, stored)).toMatchObject({
      cron: "0 9 * * MON-FRI",
      overlap: "skip",
      jitter: 10,
      dom_dow: "and",
    });
    expect(documentOf({ ...emptyDraft("UTC"), timing: "manual" }, stored)).not.toHaveProperty("jitter");
  });

  it("has only the settings of its kind", () => {
    const draft = { ...emptyDraft("UTC"), env: "A=1", headers: "X-A: 1", expectStatus: "200, 204-206" };

    expect(documentOf(draft)).not.toHaveProperty("headers");
    expect(documentOf({ ...draft, kind: "http" })).toMatchObject({
      headers: { "X-A": "1" },
      expect_status: [200, "204-206"],
    });
    expect(documentOf({ ...draft, kind: "http" })).not.toHaveProperty("env");
  });
});

describe("readPairs", () => {
  it("splits at the first sign", () => {
    expect(readPairs("URL=https://shop.example/?a=b\n\nEMPTY=", "=")).toEqual({
      URL: "https://shop.example/?a=b",
      EMPTY: "",
    });
    expect(readPairs("Accept: text/plain", ":")).toEqual({ Accept: "text/plain" });
  });

  it("names the line that is no pair", () => {
    expect(pairProblem("A=1\nB", "=")).toContain("Line 2");
    expect(pairProblem("A=1", "=")).toBeNull();
  });
});

describe("draftOf", () => {
  it("reads a stored job, so that saving it unchanged changes nothing", () => {
    const job = stored({
      document: { id: "ping", kind: "http", url: "https://shop.example", method: "POST", retries: 2, ...MORE },
      schedules: [{ ...schedule, overlap_policy: "queue", catchup_policy: "none" }] as JobDetail["schedules"],
    });

    expect(documentOf(draftOf(job, "UTC"), job.document ?? {})).toEqual({
      id: "ping",
      kind: "http",
      url: "https://shop.example",
      method: "POST",
      retries: 2,
      ...MORE,
      cron: "*/5 * * * *",
      timezone: "UTC",
      overlap: "queue",
      catchup: "none",
    });
  });
});

describe("onlyAsToml", () => {
  it("names the reason", () => {
    expect(onlyAsToml(stored({ kind: "fanout" }))).toBe("A fanout is edited as TOML.");
    expect(onlyAsToml(stored({ document: null }))).toContain("application");
    expect(onlyAsToml(stored({ document: { depends_on: ["a"] } }))).toContain("dependencies");
    expect(onlyAsToml(stored({}))).toBeNull();
  });
});
