import { expect, test } from "vitest";
import { partAt, partsOf, wordEnd } from "./cronParts";

test("parts keep their places, and their names follow from their number", () => {
  expect(partsOf(" 0  9 * * MON-FRI")).toEqual([
    { from: 1, to: 2, name: "minute" },
    { from: 4, to: 5, name: "hour" },
    { from: 6, to: 7, name: "day of month" },
    { from: 8, to: 9, name: "month" },
    { from: 10, to: 17, name: "day of week" },
  ]);
  expect(partsOf("*/10 * * * * *")[0]?.name).toBe("second");
  expect(partsOf("0 0 1 1 * * 2027")[6]?.name).toBe("year");
  expect(partsOf("@daily")).toEqual([{ from: 0, to: 6, name: null }]);
});

test("the cursor is in the part before it and in the part behind it, not in blanks between", () => {
  const parts = partsOf("0  9 * * *");
  expect([0, 1, 2, 3, 4].map((cursor) => partAt(parts, cursor))).toEqual([0, 0, -1, 1, 1]);
});

test("the marked error is one word of a list, a range or a step", () => {
  expect(wordEnd("0 18 LW * MONDAY", 10)).toBe(16);
  expect(wordEnd("61,5 * * * *", 0)).toBe(2);
  expect(wordEnd("* * * *", 7)).toBe(8);
});
