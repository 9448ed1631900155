import { describe, expect, it } from "vitest";
import { axisOf } from "./axis";

const at = (text: string) => Date.parse(text);

describe("the axis", () => {
  it("has round moments of the zone", () => {
    const marks = axisOf(at("2026-10-22T11:33:00Z"), at("2026-10-22T13:08:00Z"), 8, "Europe/Berlin");
    expect(marks.map((mark) => mark.word)).toEqual(["13:45", "14:00", "14:15", "14:30", "14:45", "15:00"]);
  });

  it("names the day at midnight", () => {
    const marks = axisOf(at("2026-10-22T20:00:00Z"), at("2026-10-23T04:00:00Z"), 5, "UTC");
    expect(marks.map((mark) => mark.word)).toEqual(["20:00", "22:00", "23 Oct", "02:00", "04:00"]);
  });

  it("never has more marks than asked for, plus the one at the begin", () => {
    for (const span of [1, 900, 61_000, 7_200_000, 40 * 86_400_000, 3_000 * 86_400_000])
      expect(axisOf(0, span, 6, "Asia/Kolkata").length).toBeLessThanOrEqual(9);
  });
});
