import { expect, test } from "vitest";
import { firstLine } from "./findAttempt";
import { clickedRange, formatRange, parseRange } from "./range";
import { matchBeside } from "./useLogSearch";

test("lines of an address", () => {
  expect(parseRange("#L120")).toEqual({ first: 120, last: 120 });
  expect(parseRange("L140-L120")).toEqual({ first: 120, last: 140 });
  expect(parseRange("#L0")).toBeUndefined();
  expect(parseRange("#other")).toBeUndefined();
  expect(parseRange("")).toBeUndefined();
  expect(formatRange({ first: 3, last: 3 })).toBe("L3");
  expect(formatRange({ first: 3, last: 9 })).toBe("L3-L9");
});

test("a click selects a line, with shift up to it", () => {
  expect(clickedRange(undefined, 5, true)).toEqual({ first: 5, last: 5 });
  expect(clickedRange({ first: 5, last: 5 }, 9, true)).toEqual({ first: 5, last: 9 });
  expect(clickedRange({ first: 5, last: 5 }, 2, true)).toEqual({ first: 2, last: 5 });
  expect(clickedRange({ first: 5, last: 9 }, 7, false)).toEqual({ first: 7, last: 7 });
});

test("matches go round", () => {
  expect(matchBeside([3, 8, 20], 8, 1)).toBe(20);
  expect(matchBeside([3, 8, 20], 20, 1)).toBe(3);
  expect(matchBeside([3, 8, 20], 3, -1)).toBe(20);
  expect(matchBeside([], 3, 1)).toBeUndefined();
});

test("the first line of an attempt is found by halving", async () => {
  const attempts = [1, 1, 1, 2, 2, 3];
  const at = async (line: number) => attempts[line - 1];
  expect(await firstLine(6, 2, at)).toBe(4);
  expect(await firstLine(6, 3, at)).toBe(6);
  expect(await firstLine(6, 1, at)).toBe(1);
  expect(await firstLine(6, 4, at)).toBeUndefined();
});
