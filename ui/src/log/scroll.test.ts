import { expect, test } from "vitest";
import {
  anchorOf,
  barOf,
  type Geometry,
  heightOf,
  isStuck,
  lastTop,
  moved,
  shownAround,
  TALLEST,
  topFor,
} from "./scroll";

const short: Geometry = { total: 1_000, view: 360, row: 18 };
const long: Geometry = { total: 3_000_000, view: 360, row: 18 };

test("a log that fits does not scroll", () => {
  const tiny = { total: 5, view: 360, row: 18 };
  expect(lastTop(tiny)).toBe(0);
  expect(anchorOf(0, tiny)).toEqual({ line: 0, y: 0 });
});

test("the element is never taller than a browser can show", () => {
  expect(heightOf(short)).toBe(18_000);
  expect(heightOf(long)).toBe(TALLEST);
});

test("the bar of a short log moves line by line", () => {
  expect(moved(0, 0, 180, short)).toBeCloseTo(10);
  expect(moved(10, 180, 17_640, short)).toBeCloseTo(lastTop(short));
});

test("a small movement in a long log moves by pixels, not by proportion", () => {
  expect(moved(1_000_000, barOf(1_000_000, long), barOf(1_000_000, long) + 180, long)).toBeCloseTo(1_000_010);
});

test("dragging the bar of a long log reaches its end and its beginning", () => {
  expect(moved(5, 0, TALLEST - 360, long)).toBeCloseTo(lastTop(long));
  expect(moved(lastTop(long), TALLEST - 360, 0, long)).toBe(0);
});

test("a bar that reaches its end before the log does is stuck", () => {
  expect(isStuck(900, 10, long)).toBe(true);
  expect(isStuck(0, 0, long)).toBe(false);
  expect(isStuck(1_500_000, barOf(1_500_000, long) + 500, long)).toBe(false);
});

test("the first line is at the top at the beginning, and the last one at the bottom at the end", () => {
  expect(anchorOf(0, long)).toEqual({ line: 0, y: 0 });
  expect(anchorOf(lastTop(long), long)).toEqual({ line: 3_000_000, y: 360 });
});

test("few lines are rendered wherever the log is", () => {
  for (const top of [0, 1_234_567.5, lastTop(long)]) {
    const { first, last } = shownAround(anchorOf(top, long), long);
    expect(last - first).toBeLessThan(60);
    expect(first).toBeLessThanOrEqual(Math.floor(top) + 1);
    expect(last).toBeGreaterThanOrEqual(Math.min(3_000_000, Math.floor(top) + 20));
  }
});

test("a line that is asked for is in view", () => {
  for (const line of [1, 2, 17, 500_000, 2_999_999, 3_000_000]) {
    const top = topFor(line, long, false);
    expect(line - 1).toBeGreaterThanOrEqual(top - 0.001);
    expect(line).toBeLessThanOrEqual(top + 20.001);
  }
});
