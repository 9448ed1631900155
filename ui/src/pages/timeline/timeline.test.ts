import { describe, expect, it } from "vitest";
import type { TimelineBar, TimelinePage } from "@/api/types.gen";
import { barWords, intervalOf, movedBy, pageWords, rowWords } from "./interval";
import { validateTimelineSearch } from "./search";

const NOW = Date.parse("2026-10-22T12:07:30Z");
const bar = (fields: Partial<TimelineBar>): TimelineBar => ({
  begin: "2026-10-22T10:00:00Z",
  end: "2026-10-22T10:02:00Z",
  status: "success",
  count: 1,
  run_id: "R",
  ...fields,
});
const row = {
  job_id: "a",
  bars: [bar({}), bar({ status: "failed", count: 3 })],
  fires: [{ at: "2026-10-22T13:00:00Z", count: 2 }],
};

describe("intervalOf", () => {
  it("has two thirds before the moment, and moves on in steps", () => {
    expect(intervalOf("day", NOW)).toEqual({ since: "2026-10-21T20:15:00.000Z", until: "2026-10-22T20:15:00.000Z" });
    expect(intervalOf("day", NOW + 60_000)).toEqual(intervalOf("day", NOW));
    expect(intervalOf("hour", NOW + 60_000)).not.toEqual(intervalOf("hour", NOW));
  });
  it("overlaps the one before it", () => {
    expect(movedBy("day", NOW, -1)).toBe("2026-10-21T18:07:30.000Z");
  });
});

describe("the words", () => {
  it("of a bar name the status, and how many runs it stands for", () => {
    expect(barWords("a", bar({}), "UTC", NOW)).toBe("a success, 10:00 for 2 min");
    expect(barWords("a", bar({ status: "failed", count: 3 }), "UTC", NOW)).toBe("a, 3 runs, the worst failed, 10:00");
    expect(barWords("a", bar({ end: null, status: "running" }), "UTC", NOW)).toBe("a running, 10:00");
  });
  it("of a row and of the page count", () => {
    expect(rowWords(row)).toBe("a: 4 runs, 1 mark with failures, 2 fires to come");
    const page = { rows: [row, { job_id: "b", bars: [], fires: [] }], concurrency: [0, 2, 1] };
    expect(pageWords(page as unknown as TimelinePage)).toBe("4 runs of 1 job, at most 2 at once, 2 fires to come.");
  });
});

it("leaves out search params that are not valid", () => {
  expect(validateTimelineSearch({ span: "year", at: "soon", job: "a" })).toEqual({ job: "a" });
  expect(validateTimelineSearch({ span: "week", at: "2026-10-22T10:00:00Z" }).at).toBe("2026-10-22T10:00:00.000Z");
});
