import { describe, expect, it } from "vitest";
import { differences } from "./differences";

describe("differences", () => {
  it("lists changed, added and removed fields with their path", () => {
    const before = { spec: { command: "true", env: { A: "1" } }, tags: ["db"] };
    const after = { spec: { command: "false", env: { A: "1" } }, timeout: 30 };

    expect(differences(before, after)).toEqual([
      { field: "spec.command", before: "true", after: "false" },
      { field: "tags", before: '["db"]', after: null },
      { field: "timeout", before: null, after: "30" },
    ]);
  });

  it("is empty for equal documents and for none", () => {
    expect(differences({ a: { b: null } }, { a: { b: null } })).toEqual([]);
    expect(differences(null, null)).toEqual([]);
  });
});
