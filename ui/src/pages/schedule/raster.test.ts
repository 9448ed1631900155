import { describe, expect, it } from "vitest";
import type { StripTick } from "@/api/types.gen";
import { describeRow, placeOf, raster } from "./raster";

const NOW = Date.parse("2026-10-26T12:00:00Z");

function tick(at: string, facts: Partial<StripTick> = {}): StripTick {
  return {
    schedule_id: "backup:default",
    scheduled_for: at,
    until: at,
    count: 1,
    outcome: "ran",
    reason: "on_time",
    run_id: null,
    status: "success",
    duration: null,
    is_late: false,
    ...facts,
  };
}

describe("raster", () => {
  it("has a row for each day, today first, and a mark at the time on the wall", () => {
    const rows = raster([tick("2026-10-25T06:00:00Z")], ["2026-10-26T18:00:00Z"], 3, NOW, "UTC");

    expect(rows.map((row) => row.label)).toEqual(["today", "Sun 25 Oct", "Sat 24 Oct"]);
    expect(rows[1]?.cells).toEqual([{ mark: "ran", at: "2026-10-25T06:00:00.000Z", x: 0.25, count: 1 }]);
    expect(rows[0]?.cells.map((cell) => cell.mark)).toEqual(["planned"]);
  });

  it("loses no day when the clock is changed", () => {
    const labels = raster([], [], 5, NOW, "Europe/Berlin").map((row) => row.label);

    expect(labels).toEqual(["today", "Sun 25 Oct", "Sat 24 Oct", "Fri 23 Oct", "Thu 22 Oct"]);
  });

  it("gives each time of a range its own mark", () => {
    const missed = tick("2026-10-26T01:00:00Z", {
      until: "2026-10-26T04:00:00Z",
      count: 4,
      outcome: "missed",
      reason: "down",
      status: null,
    });
    const [today] = raster([missed], [], 1, NOW, "UTC");

    expect(today?.cells.map((cell) => cell.x * 24)).toEqual([1, 2, 3, 4]);
    expect(today && describeRow(today)).toBe("today: 4 missed");
  });

  it("shows hours with the worst mark if there are too many ticks", () => {
    const everyMinute = Array.from({ length: 120 }, (_, minute) =>
      tick(new Date(Date.parse("2026-10-26T00:00:00Z") + minute * 60_000).toISOString(), {
        status: minute === 70 ? "failed" : "success",
      }),
    );
    const [today] = raster(everyMinute, [], 1, NOW, "UTC");

    expect(today?.cells.map(({ mark, count }) => [mark, count])).toEqual([
      ["ran", 60],
      ["failed", 60],
    ]);
    expect(today?.cells[1]?.at).toBe("2026-10-26T01:10:00.000Z");
  });

  it("shows a run that began late as late", () => {
    const [today] = raster([tick("2026-10-26T01:00:00Z", { is_late: true })], [], 1, NOW, "UTC");

    expect(today?.cells[0]?.mark).toBe("late");
  });
});

it("places a moment by the clock on the wall", () => {
  expect(placeOf(NOW, "Asia/Tokyo")).toEqual({ key: "26 Oct 2026", x: 21 / 24 });
});
