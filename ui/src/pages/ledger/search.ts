import type { TickOutcome } from "@/api/types.gen";
import { oneOf, text } from "@/shell/search";

export const OUTCOMES = ["ran", "skipped", "missed", "coalesced", "failed", "cancelled"] as const;

/** The search params of this page, see shell/search.ts. */
export interface LedgerSearch {
  outcome?: TickOutcome | undefined;
  /** A job, a workflow or a schedule. */
  name?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  /** The tick that the drawer explains: schedule@time. */
  open?: string | undefined;
}

export function validateLedgerSearch(search: Record<string, unknown>): LedgerSearch {
  return {
    outcome: oneOf(search, "outcome", OUTCOMES),
    name: text(search, "name") ?? text(search, "job"),
    since: text(search, "since"),
    until: text(search, "until"),
    open: text(search, "open"),
  };
}
