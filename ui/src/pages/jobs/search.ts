import type { JobState } from "@/api/types.gen";
import { oneOf, text } from "@/shell/search";

export const STATES: readonly JobState[] = ["failing", "running", "paused", "enabled", "disabled"];
export const KINDS = ["shell", "http", "python", "agent", "gate", "fanout", "workflow", "chain"] as const;
export type Kind = (typeof KINDS)[number];

export interface JobsSearch {
  /** Part of an id, a name or a tag. */
  search?: string | undefined;
  tag?: string | undefined;
  kind?: Kind | undefined;
  state?: JobState | undefined;
  /** The tick in the drawer: the id of its schedule, "@" and its planned time. */
  tick?: string | undefined;
}

export function validateJobsSearch(search: Record<string, unknown>): JobsSearch {
  return {
    search: text(search, "search"),
    tag: text(search, "tag"),
    kind: oneOf(search, "kind", KINDS),
    state: oneOf(search, "state", STATES),
    tick: text(search, "tick"),
  };
}
