import { oneOf, text } from "@/shell/search";

export const SPANS = ["7", "21", "90"] as const;
export const KINDS = ["missed", "failed", "late", "skipped", "coalesced", "cancelled"] as const;
export type Kind = (typeof KINDS)[number];

/** The search params of this page, see shell/search.ts. */
export interface ScheduleSearch {
  /** How many days the calendar shows. */
  days?: (typeof SPANS)[number] | undefined;
  kind?: Kind | undefined;
  /** The tick that the drawer explains: schedule@time. */
  open?: string | undefined;
}

export function validateScheduleSearch(search: Record<string, unknown>): ScheduleSearch {
  const days = search.days === undefined ? {} : { days: String(search.days) };
  return { days: oneOf(days, "days", SPANS), kind: oneOf(search, "kind", KINDS), open: text(search, "open") };
}
