import { describe, expect, it } from "vitest";
import { changedLines } from "./diff";
import { readParams } from "./params";

const shown = (before: string, after: string) =>
  changedLines(before, after).map(
    (line) => `${{ same: " ", added: "+", removed: "-", gap: "…" }[line.kind]}${line.text}`,
  );

describe("the changes between two versions", () => {
  it("are the lines that differ, with three around them", () => {
    expect(shown("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nx\ne\nf\ng\nh\n")).toEqual([
      " a",
      " b",
      " c",
      "-d",
      "+x",
      " e",
      " f",
      " g",
    ]);
  });

  it("have a gap between places that are far apart", () => {
    const lines = shown("1\n2\n3\n4\n5\n6\n7\n8\n9", "x\n2\n3\n4\n5\n6\n7\n8\ny");
    expect(lines).toEqual(["-1", "+x", " 2", " 3", " 4", "…", " 6", " 7", " 8", "-9", "+y"]);
  });

  it("are none for equal texts", () => {
    expect(changedLines("a\nb", "a\nb\n")).toEqual([]);
  });
});

describe("parameters", () => {
  it("are an object of JSON, or nothing", () => {
    expect(readParams('{"day": 1}')).toEqual({ params: { day: 1 } });
    expect(readParams(" ")).toEqual({});
    expect(readParams("[1]").problem).toContain("Write an object");
    expect(readParams("{").problem).toContain("not JSON");
  });
});
