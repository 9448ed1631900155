import { expect, test } from "vitest";
import { bytes, countdown, counted, duration, fullMoment, relative, shortMoment } from "./format";

const NOW = Date.parse("2026-10-22T12:24:00Z");
const at = (text: string) => Date.parse(text);

test.each([
  [null, "–"],
  [0, "0 s"],
  [0.004, "4 ms"],
  [0.42, "0.4 s"],
  [1.1, "1.1 s"],
  [52, "52 s"],
  [65, "1 min 5 s"],
  [31 * 60, "31 min"],
  [59.4 * 60, "59 min"],
  [3_600, "1 h"],
  [6_660, "1 h 51 min"],
  [86_399, "1 d"],
  [309_600, "3 d 14 h"],
])("%s seconds last %s", (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

test.each([
  ["2026-10-22T12:25:12Z", "1:12"],
  ["2026-10-22T12:24:00.400Z", "0:01"],
  ["2026-10-22T13:00:12Z", "36:12"],
  ["2026-10-23T05:00:00Z", "16 h 36 min"],
  ["2026-10-26T02:24:00Z", "3 d 14 h"],
  ["2026-10-22T12:24:00Z", "now"],
])("the countdown to %s is %s", (until, text) => {
  expect(countdown(at(until), NOW)).toBe(text);
});

test.each([
  ["2026-10-22T12:20:00Z", "4 min ago"],
  ["2026-10-22T12:23:58Z", "now"],
  ["2026-10-22T12:24:30Z", "in 30 s"],
  ["2026-10-21T12:24:00Z", "24 h ago"],
  ["2026-10-19T12:24:00Z", "3 d ago"],
])("%s is %s", (text, expected) => {
  expect(relative(at(text), NOW)).toBe(expected);
});

test("a moment is as short as it can be understood", () => {
  expect(shortMoment("2026-10-22T12:25:00Z", "Europe/Berlin", NOW)).toBe("14:25");
  expect(shortMoment("2026-10-23T05:00:00Z", "Europe/Berlin", NOW)).toBe("Fri 07:00");
  expect(shortMoment("2026-10-12T05:00:00Z", "Europe/Berlin", NOW)).toBe("12 Oct 07:00");
  expect(shortMoment("2025-10-12T05:00:00Z", "Europe/Berlin", NOW)).toBe("12 Oct 2025");
});

test("a full moment has the offset of its zone, before and after a clock change", () => {
  expect(fullMoment("2026-10-25T00:30:00Z", "Europe/Berlin")).toBe("Sun 25 Oct 2026 02:30:00 +02:00");
  expect(fullMoment("2026-10-25T01:30:00Z", "Europe/Berlin")).toBe("Sun 25 Oct 2026 02:30:00 +01:00");
  expect(fullMoment("2026-10-25T00:30:00Z", "UTC")).toBe("Sun 25 Oct 2026 00:30:00 +00:00");
});

test("counts and sizes have their nouns", () => {
  expect(counted(1, "run")).toBe("1 run");
  expect(counted(12_000, "run")).toBe("12,000 runs");
  expect(bytes(214_000_000)).toBe("214 MB");
  expect(bytes(1_500)).toBe("1.5 kB");
});
