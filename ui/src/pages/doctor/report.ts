import { counted } from "@/time/format";

/** The report of GET /api/doctor: the same document as of `foliot doctor --json`. */
export interface DoctorReport {
  at: string;
  version: string;
  tzdata: string;
  severity: Severity;
  checks: DoctorCheck[];
}

export type Severity = "ok" | "warning" | "error";

export interface DoctorCheck {
  name: string;
  severity: Severity;
  findings: { severity: Severity; message: string; hint: string }[];
}

export const SEVERITIES = {
  ok: { hue: "ok", word: "no problems found", status: "success" },
  warning: { hue: "look", word: "warning", status: "partial" },
  error: { hue: "bad", word: "error", status: "failed" },
} as const;

/** Return the checks with findings first, the worst of them at the top. */
export function worstFirst(checks: readonly DoctorCheck[]): DoctorCheck[] {
  const rank = { error: 0, warning: 1, ok: 2 };
  return [...checks].sort((one, other) => rank[one.severity] - rank[other.severity]);
}

/** "2 errors and 1 warning need attention." */
export function summary(report: DoctorReport): string {
  const found = report.checks.flatMap((check) => check.findings);
  const errors = found.filter((one) => one.severity === "error").length;
  const warnings = found.length - errors;
  const parts = [counted(errors, "error"), counted(warnings, "warning")].filter((part) => !part.startsWith("0 "));
  return parts.length ? `${parts.join(" and ")} found.` : "No problems found.";
}
