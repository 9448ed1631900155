import { describe, expect, it } from "vitest";
import type { AccountView, HomePage } from "@/api/types.gen";
import { partsOf, unaccounted } from "./account";
import { inSteps } from "./Histogram";
import { dayWords } from "./Next";
import { gaugeOf } from "./progress";
import { firstFires, perJob, sentenceOf } from "./sentence";
import { causeOf, missedWords, noticeWords, waitOf } from "./words";

const calm = {
  status: { notices: [], paused: null },
  jobs: { total: 4, inactive: 0 },
  broken: [],
  broken_count: 0,
  breakers: [],
  waiting: [],
  missed: [],
  next: [{ at: "2026-10-22T12:25:00Z", schedule_id: "a:default", job_id: "a" }],
} as unknown as HomePage;

describe("sentenceOf", () => {
  it("says that all is well, with the next fire", () => {
    expect(sentenceOf(calm)).toEqual({ text: "All well.", hasNext: true });
    expect(sentenceOf({ ...calm, next: [] })).toEqual({ text: "All well.", hasNext: false });
  });
  it("counts jobs and breakers that need a person", () => {
    const breakers = [{ id: "c" }] as HomePage["breakers"];
    expect(sentenceOf({ ...calm, broken_count: 2, breakers }).text).toBe("2 jobs and 1 breaker need you.");
    expect(sentenceOf({ ...calm, broken_count: 1 }).text).toBe("1 job needs you.");
  });
  it("says first what is down, also while jobs are broken", () => {
    const status = { ...calm.status, notices: [{ code: "no_scheduler", state: "down" }] } as HomePage["status"];
    expect(sentenceOf({ ...calm, status, broken_count: 2 }).text).toBe("No scheduler is running: nothing fires.");
  });
  it("counts a job that was stopped after failures once", () => {
    const notices = [{ code: "jobs_stopped", jobs: ["a", "b"], state: "attention" }];
    const status = { ...calm.status, notices } as HomePage["status"];
    const broken = [{ job: { id: "a" } }] as HomePage["broken"];
    expect(sentenceOf({ ...calm, status, broken, broken_count: 1 }).text).toBe("1 job and 1 stopped job need you.");
  });
  it("greets a server without jobs", () => {
    expect(sentenceOf({ ...calm, jobs: { total: 0, inactive: 0 } }).text).toBe("No jobs yet.");
  });
});

describe("account", () => {
  const account: AccountView = {
    since: "",
    until: "",
    planned: 30,
    ran: 20,
    skipped: 3,
    missed: 4,
    coalesced: 2,
    failed: 1,
    cancelled: 0,
    failed_runs: 5,
    late: 2,
    is_complete: true,
  };
  it("has shares that add up to all planned times", () => {
    expect(partsOf(account).reduce((sum, part) => sum + part.share, 0)).toBe(30);
    expect(unaccounted(account)).toBe(0);
  });
  it("shows a planned time without an outcome", () => {
    expect(unaccounted({ ...account, planned: 31 })).toBe(1);
  });
});

describe("fires and runs of the same job", () => {
  it("keeps the soonest fire of each job", () => {
    const fires = [
      { at: "2026-10-22T12:30:00Z", job_id: "a" },
      { at: "2026-10-22T12:40:00Z", job_id: "b" },
      { at: "2026-10-22T12:20:00Z", job_id: "a" },
    ];
    expect(firstFires(fires).map((fire) => `${fire.job_id} ${fire.at.slice(11, 16)}`)).toEqual(["a 12:20", "b 12:40"]);
  });
  it("counts the runs of a job in one entry", () => {
    const runs = [{ job_id: "a" }, { job_id: "b" }, { job_id: "a" }];
    expect(perJob(runs).map((one) => one.count)).toEqual([2, 1]);
  });
  it("adds the minutes of a bar", () => {
    expect(inSteps([1, 2, 3, 4, 5], 2)).toEqual([3, 7, 5]);
  });
});

describe("dayWords", () => {
  const now = Date.parse("2026-10-22T12:00:00Z");
  it("has no heading for today, and one where another day begins", () => {
    expect(dayWords("2026-10-22T14:00:00Z", undefined, "UTC", now)).toBeNull();
    expect(dayWords("2026-10-23T02:00:00Z", "2026-10-22T14:00:00Z", "UTC", now)).toBe("Tomorrow, Fri 23 Oct");
    expect(dayWords("2026-10-23T03:00:00Z", "2026-10-23T02:00:00Z", "UTC", now)).toBeNull();
    expect(dayWords("2026-10-26T03:00:00Z", "2026-10-23T02:00:00Z", "UTC", now)).toBe("Mon 26 Oct");
  });
  it("uses the day of the zone", () => {
    expect(dayWords("2026-10-22T22:30:00Z", undefined, "Europe/Berlin", now)).toBe("Tomorrow, Fri 23 Oct");
  });
});

describe("gaugeOf", () => {
  const usual = { p50: 60, p95: 100, samples: 20 };
  it("scales the time to p95 and marks the usual duration", () => {
    expect(gaugeOf(50, usual, null)).toEqual({ filled: 0.5, usual: 0.6, isOver: false });
    expect(gaugeOf(150, usual, null)).toEqual({ filled: 1, usual: 0.6, isOver: true });
  });
  it("prefers the progress that the run reports", () => {
    expect(gaugeOf(50, usual, { fraction: 0.25, text: null, at: "" })).toMatchObject({ filled: 0.25, usual: null });
  });
  it("shows no bar without either", () => {
    expect(gaugeOf(50, null, null)).toBeNull();
  });
});

describe("words", () => {
  const run = { reason: null, exit_code: null, error_message: null };
  it("names the cause of a failure", () => {
    expect(causeOf({ ...run, reason: "exit_code", exit_code: 69, error_message: "exit code 69" })).toBe("exit code 69");
    expect(causeOf({ ...run, reason: "timeout", error_message: "10 s passed" })).toBe(
      "took longer than its timeout: 10 s passed",
    );
    expect(causeOf({ ...run, reason: "exception", error_message: "ValueError: no rate\n  at line 3" })).toBe(
      "ValueError: no rate",
    );
    expect(causeOf(run)).toBe("failed");
  });
  it("says what a run waits for", () => {
    expect(waitOf({ code: "waits_for_limit", option: "max_concurrent", value: 1, holders: ["etl"] })).toBe(
      "Waits for max_concurrent = 1, held by etl.",
    );
    expect(waitOf({ code: "no_worker", queue: "gpu", needs: [] })).toBe("No worker serves the queue gpu.");
  });
  it("leaves notices out that other parts show", () => {
    expect(noticeWords({ code: "jobs_failing", count: 1, jobs: ["a"], state: "attention" })).toBeNull();
    expect(noticeWords({ code: "disk_low", free: 2_000_000_000, state: "attention" })).toBe(
      "Only 2 GB of disk are free.",
    );
  });
  it("says why times were missed", () => {
    expect(missedWords(["down", "too_old"])).toBe(
      "no scheduler was running and too old to catch up when a scheduler was running again",
    );
  });
});
