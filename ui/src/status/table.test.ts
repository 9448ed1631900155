import { expect, test } from "vitest";
import { entryOf, MARKS, markOf, STATUSES } from "./table";

test("no two statuses look the same in grey", () => {
  const glyphs = Object.values(STATUSES).map((entry) => entry.glyph);
  expect(new Set(glyphs).size).toBe(glyphs.length);
});

test("no two marks look the same in grey", () => {
  const glyphs = Object.values(MARKS).map((entry) => entry.glyph);
  expect(new Set(glyphs).size).toBe(glyphs.length);
});

test("a tick that ran shows how its run ended", () => {
  expect(markOf({ outcome: "ran", reason: "on_time", status: "failed" })).toBe("failed");
  expect(markOf({ outcome: "ran", reason: "on_time", status: "skipped" })).toBe("skipped");
  expect(markOf({ outcome: "ran", reason: "caught_up", status: "success" })).toBe("late");
  expect(markOf({ outcome: "ran", reason: "caught_up", status: "timeout" })).toBe("timeout");
});

test("a tick whose run was deleted by retention still ran", () => {
  expect(markOf({ outcome: "ran", reason: "on_time", status: null })).toBe("ran");
});

test("a tick that did not run shows its outcome", () => {
  expect(markOf({ outcome: "missed", reason: "down", status: null })).toBe("missed");
  expect(markOf({ outcome: "failed", reason: "launch_failed", status: null })).toBe("launch_failed");
});

test("a status of a newer server has its own word", () => {
  expect(entryOf("on_hold")).toMatchObject({ word: "on hold", hue: "quiet" });
});
