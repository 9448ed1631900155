import { expect, it } from "vitest";
import { type DoctorReport, summary, worstFirst } from "./report";

const finding = (severity: "warning" | "error") => ({ severity, message: "m", hint: "h" });
const report = (checks: DoctorReport["checks"]): DoctorReport => ({
  at: "2026-11-18T12:00:00Z",
  version: "0.1.0",
  tzdata: "2026a",
  severity: "ok",
  checks,
});

it("counts errors and warnings", () => {
  const checks: DoctorReport["checks"] = [
    { name: "clock", severity: "warning", findings: [finding("warning")] },
    { name: "storage", severity: "error", findings: [finding("error"), finding("error")] },
  ];
  expect(summary(report(checks))).toBe("2 errors and 1 warning found.");
});

it("says that nothing was found", () => {
  expect(summary(report([{ name: "clock", severity: "ok", findings: [] }]))).toBe("No problems found.");
});

it("lists errors before warnings before what is sound", () => {
  const checks: DoctorReport["checks"] = [
    { name: "a", severity: "ok", findings: [] },
    { name: "b", severity: "error", findings: [finding("error")] },
    { name: "c", severity: "warning", findings: [finding("warning")] },
  ];
  expect(worstFirst(checks).map((check) => check.name)).toEqual(["b", "c", "a"]);
});
