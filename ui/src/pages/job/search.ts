import { text } from "@/shell/search";

export interface JobSearch {
  /** How many runs the chart shows; 30 without it. */
  runs?: 90 | undefined;
  /** The tick in the drawer: the id of its schedule, "@" and its planned time. */
  tick?: string | undefined;
}

export function validateJobSearch(search: Record<string, unknown>): JobSearch {
  return { runs: Number(search.runs) === 90 ? 90 : undefined, tick: text(search, "tick") };
}
