import { describe, expect, it } from "vitest";
import { copyForms, python } from "./copy";
import { differences } from "./diff";
import { factsOf } from "./facts";
import { laterWords } from "./fires";
import { gateWords, unmetWords } from "./gate";
import { whyOf } from "./RunsTable";
import { axisMarks, topOf } from "./scale";
import { validateJobSearch } from "./search";

describe("the axis of the chart", () => {
  it("ends at or above the largest value, in steps that people count in", () => {
    expect(axisMarks(91, 3)).toEqual([0, 60, 120]);
    expect(axisMarks(0.4, 3)).toEqual([0, 0.2, 0.4]);
    expect(axisMarks(7_000, 3)).toEqual([0, 3_600, 7_200]);
    expect(axisMarks(0, 3).length).toBeGreaterThan(1);
  });
  it("cuts off a run that is far longer than the others", () => {
    expect(topOf([10, 12, 11, 900], 12)).toBe(24);
    expect(topOf([10, 12, 30], 12)).toBe(30);
    expect(topOf([], null)).toBe(0);
  });
});

describe("copyForms", () => {
  it("quotes what a shell would read otherwise", () => {
    const { CLI, curl } = copyForms("a b's", "https://host/base", { day: "it's" });
    expect(CLI).toBe(`foliot trigger 'a b'\\''s' --payload '{"day":"it'\\''s"}' --follow`);
    expect(curl).toContain("https://host/base/api/jobs/a%20b");
    expect(curl).toContain(`-d '{"payload":{"day":"it'\\''s"}}'`);
  });
  it("leaves a payload out that there is not", () => {
    const { CLI, Python } = copyForms("backup", "http://127.0.0.1:7070", null);
    expect(CLI).toBe("foliot trigger backup --follow");
    expect(Python).toContain('client.jobs.run("backup")');
  });
  it("writes Python literals", () => {
    expect(python({ a: [true, null, 1.5, 'x"y'] })).toBe('{"a": [True, None, 1.5, "x\\"y"]}');
  });
});

describe("factsOf", () => {
  it("begins with the work, shows spans as such, leaves out what stands elsewhere", () => {
    const facts = factsOf({
      id: "a",
      cron: "* * * * *",
      timeout: 600,
      max_concurrent: 1,
      command: "echo hi\n",
      kind: "shell",
    });
    expect(facts).toEqual([
      { name: "Kind", value: "shell", isCode: false },
      { name: "Command", value: "echo hi", isCode: true },
      { name: "Timeout", value: "10 min", isCode: false },
      { name: "Max concurrent", value: "1", isCode: false },
    ]);
  });
});

describe("the gate in words", () => {
  it("has the defaults of the server", () => {
    expect(gateWords({ depends_on: ["a"] })).toBe("the latest run of each within 1 d, all must have succeeded");
    expect(unmetWords({ depends_on: ["a"] })).toBe("skip");
  });
  it("tells a missing dependency from a failed one", () => {
    expect(unmetWords({ depends_on: ["a"], wait: 1_800_000, on_missing: "run", on_dep_fail: "fail" })).toBe(
      "wait up to 30 min, then run anyway if it is missing, fail if it has failed",
    );
  });
});

describe("laterWords", () => {
  it("shows times of one day, else days", () => {
    const at = (day: string, time: string) => `2026-10-${day}T${time}:00Z`;
    expect(laterWords([at("22", "08:00"), at("22", "09:00"), at("22", "10:00")], "UTC")).toBe("09:00, 10:00");
    expect(laterWords([at("22", "08:00"), at("23", "08:00"), at("26", "08:00")], "UTC")).toBe("Fri 23, Mon 26 Oct");
    expect(laterWords([at("22", "08:00"), at("22", "20:00"), at("23", "08:00")], "UTC")).toBe("20:00, Fri 08:00");
    expect(laterWords([at("22", "08:00")], "UTC")).toBe("");
  });
});

describe("differences", () => {
  it("has what was added, removed and changed", () => {
    expect(differences({ a: 1, b: 2, c: 3 }, { a: 1, b: 4, d: 5 })).toEqual([
      { name: "b", before: "2", after: "4" },
      { name: "c", before: "3", after: null },
      { name: "d", before: null, after: "5" },
    ]);
  });
});

describe("whyOf", () => {
  const run = {
    status: "success",
    reason: null,
    exit_code: 0,
    error_message: null,
    attempt: 1,
    trigger: "schedule",
  } as const;
  it("says why a run exists, or why it failed", () => {
    expect(whyOf(run)).toBe("planned");
    expect(whyOf({ ...run, attempt: 2 })).toBe("planned, attempt 2");
    expect(whyOf({ ...run, status: "failed", reason: "timeout" })).toBe("took longer than its timeout");
    expect(whyOf({ ...run, status: "cancelled", reason: "cancelled", exit_code: null })).toBe("cancelled");
    expect(whyOf({ ...run, trigger: "retry:01M7TVZ4GHABGKWYW3BX7EY4YE" })).toBe("repeats BX7EY4YE");
  });
});

describe("validateJobSearch", () => {
  it("knows 90 runs and nothing else", () => {
    expect(validateJobSearch({ runs: "90" }).runs).toBe(90);
    expect(validateJobSearch({ runs: 45 }).runs).toBeUndefined();
  });
});
