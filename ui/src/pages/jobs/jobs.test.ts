import { describe, expect, it } from "vitest";
import type { JobRow } from "@/api/types.gen";
import { fitting, stateOf } from "./cells";
import { moved } from "./JobTable";
import { readPayload } from "./payload";
import { validateJobsSearch } from "./search";
import { findTick } from "./TickDrawer";
import { expressionOf, joined, nameOfSchedule, roughly, scheduleWords } from "./words";

const tick = (hour: string) => ({
  schedule_id: "a:default",
  scheduled_for: `2026-10-22T${hour}:00:00Z`,
  until: `2026-10-22T${hour}:00:00Z`,
  count: 1,
  outcome: "ran",
  reason: "on_time",
  run_id: null,
  status: "success",
  duration: 1,
  is_late: false,
});
const row = {
  id: "a",
  enabled: true,
  paused: false,
  stopped_at: null,
  strip: { ticks: [tick("09"), tick("10"), tick("11")], next: [{ at: "2026-10-22T12:00:00Z" }] },
} as unknown as JobRow;

describe("words of a schedule", () => {
  const schedule = { schedule_type: "cron", schedule_expr: "0 7 * * *", timezone: "Europe/Berlin" };
  it("leave the zone out, which has its own place", () => {
    expect(scheduleWords({ ...schedule, words: "at 07:00 every day, Europe/Berlin" }, "UTC")).toBe(
      "at 07:00 every day",
    );
  });
  it("exist for intervals, one moment and the start of the server", () => {
    expect(scheduleWords({ ...schedule, schedule_type: "interval", schedule_expr: "1800" }, "UTC")).toBe(
      "every 30 min",
    );
    expect(scheduleWords({ ...schedule, schedule_type: "once", schedule_expr: "0" }, "UTC")).toBe(
      "once, Thu 1 Jan 1970 00:00:00 +00:00",
    );
    expect(scheduleWords({ ...schedule, schedule_type: "reboot", schedule_expr: "@reboot" }, "UTC")).toBe(
      "when the server starts",
    );
  });
  it("have the expression and the short name of the schedule beside them", () => {
    expect(expressionOf(schedule)).toBe("0 7 * * *");
    expect(nameOfSchedule("exchange:rates:tokyo")).toBe("tokyo");
  });
});

describe("small words", () => {
  it("joins a list", () => {
    expect(joined([])).toBe("");
    expect(joined(["a", "b", "c"])).toBe("a, b and c");
  });
  it("rounds a usual duration", () => {
    expect([0.2, 52, 75, 396, 1_606].map(roughly)).toEqual(["0.2 s", "52 s", "75 s", "7 min", "27 min"]);
    expect(roughly(null)).toBe("–");
  });
  it("fits tags into a line, at least one", () => {
    expect(fitting(["db", "nightly", "critical"], 14)).toBe(2);
    expect(fitting(["a-very-long-tag-of-a-job"], 14)).toBe(1);
    expect(fitting([], 14)).toBe(0);
  });
  it("says why a job does not fire", () => {
    expect(stateOf(row)).toBeNull();
    expect(stateOf({ ...row, paused: true })).toBe("paused");
    expect(stateOf({ ...row, enabled: false, paused: true })).toBe("disabled");
  });
});

describe("moved", () => {
  it("begins at the newest settled tick and stays inside the strip", () => {
    expect(moved(row, null, -1)).toBe(29);
    expect(moved(row, 28, -1)).toBe(27);
    expect(moved(row, 27, -1)).toBe(27);
    expect(moved(row, 29, 1)).toBe(30);
    expect(moved(row, 30, 1)).toBe(30);
  });
  it("has no place in an empty strip", () => {
    expect(moved({ ...row, strip: { ticks: [], next: [] } }, null, -1)).toBeNull();
  });
});

describe("findTick", () => {
  it("finds a tick by its name in the URL", () => {
    expect(findTick([row], "a:default@2026-10-22T10:00:00Z")?.index).toBe(1);
    expect(findTick([row], "a:default@2026-10-22T23:00:00Z")).toBeNull();
  });
});

describe("readPayload", () => {
  it("reads JSON, and nothing as no parameters", () => {
    expect(readPayload(' {"day": 1} ')).toEqual({ payload: { day: 1 }, problem: null });
    expect(readPayload("  ")).toEqual({ payload: undefined, problem: null });
    expect(readPayload("{day").problem).toMatch(/^This is not JSON: /);
  });
});

describe("validateJobsSearch", () => {
  it("leaves out what is not valid", () => {
    expect(validateJobsSearch({ kind: "shell", state: "broken", search: "", tag: 7 })).toEqual({
      kind: "shell",
      state: undefined,
      search: undefined,
      tag: "7",
      tick: undefined,
    });
  });
});
