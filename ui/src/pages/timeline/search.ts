import { oneOf, text } from "@/shell/search";

export const SPANS = ["hour", "day", "week"] as const;
export type Span = (typeof SPANS)[number];

/** The search params of this page, see shell/search.ts. */
export interface TimelineSearch {
  /** How much is shown at once; by default a day. */
  span?: Span | undefined;
  /** The time around which the page is; by default now, and then the page moves on. */
  at?: string | undefined;
  /** Part of the ids of the jobs that are shown. */
  job?: string | undefined;
}

export function validateTimelineSearch(search: Record<string, unknown>): TimelineSearch {
  const at = text(search, "at");
  return {
    span: oneOf(search, "span", SPANS),
    at: at && Number.isFinite(Date.parse(at)) ? new Date(at).toISOString() : undefined,
    job: text(search, "job"),
  };
}
