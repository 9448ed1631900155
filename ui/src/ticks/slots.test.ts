import { expect, test } from "vitest";
import { describe, plannedSlots, type StripTick, settledSlots } from "./slots";

const tick = (minute: number, more: Partial<StripTick> = {}): StripTick => ({
  scheduled_for: time(minute),
  outcome: "ran",
  reason: "on_time",
  status: "success",
  ...more,
});
const time = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

test("slots are in the order of time, whatever the order of the ticks", () => {
  const slots = settledSlots([tick(3), tick(1), tick(2)]);
  expect(slots.map((slot) => slot.at)).toEqual([time(1), time(2), time(3)]);
});

test("only the newest ticks have a slot", () => {
  const slots = settledSlots(Array.from({ length: 40 }, (_, minute) => tick(minute)));
  expect(slots).toHaveLength(30);
  expect(slots[0]?.at).toBe(time(10));
});

test("a range of missed ticks has a hollow slot for each", () => {
  const slots = settledSlots([
    tick(1, { outcome: "missed", reason: "down", status: null, until: time(3), count: 3 }),
    tick(4),
  ]);
  expect(slots.map((slot) => slot.mark)).toEqual(["missed", "missed", "missed", "ran"]);
  expect(slots.map((slot) => slot.at)).toEqual([time(1), time(2), time(3), time(4)]);
});

test("a range that does not fit keeps its number in the oldest slot", () => {
  const slots = settledSlots([
    tick(0, { outcome: "missed", reason: "down", status: null, until: time(99), count: 100 }),
  ]);
  expect(slots).toHaveLength(30);
  expect(slots.reduce((sum, slot) => sum + slot.count, 0)).toBe(100);
  expect(slots[0]?.at).toBe(time(0));
});

test("the next five planned times follow", () => {
  const times = [7, 2, 3, 6, 5, 4].map(time);
  expect(plannedSlots(times).map((slot) => slot.at)).toEqual([2, 3, 4, 5, 6].map(time));
});

test("the strip is described in words", () => {
  const settled = settledSlots([tick(1), tick(2), tick(3, { outcome: "missed", reason: "down", status: null })]);
  expect(describe(settled, plannedSlots([time(4)]))).toBe("last 3 ticks: 2 ran, 1 missed; next 1 planned");
  expect(describe([], [])).toBe("no ticks yet");
});
