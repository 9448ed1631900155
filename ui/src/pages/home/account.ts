/** The account of the last 24 hours: every planned time has one outcome. Pure. */
import type { AccountView } from "@/api/types.gen";
import type { Mark } from "@/status/table";

export interface Part {
  key: "ran" | "failed_runs" | "late" | "skipped" | "coalesced" | "cancelled" | "failed" | "missed";
  /** The mark of the tick strip that it has. */
  mark: Mark;
  word: string;
  count: number;
  /** Its share of the bar. Runs that failed and were late are a part of those that ran. */
  share: number;
}

/** Return the parts in the order of the bar: good first, what needs a look last. */
export function partsOf(account: AccountView): Part[] {
  const good = Math.max(0, account.ran - account.failed_runs);
  const part = (key: Part["key"], mark: Mark, word: string, share = account[key]): Part => ({
    key,
    mark,
    word,
    count: account[key],
    share,
  });
  return [
    part("ran", "ran", "ran", good),
    part("failed_runs", "failed", "of them failed"),
    part("late", "late", "of them late", 0),
    part("skipped", "skipped", "skipped"),
    part("coalesced", "coalesced", "coalesced"),
    part("cancelled", "cancelled", "cancelled"),
    part("failed", "launch_failed", "not launched"),
    part("missed", "missed", "missed"),
  ];
}

/** Return the planned times that have no outcome: always 0, or the ledger has a hole. */
export function unaccounted(account: AccountView): number {
  const { ran, skipped, missed, coalesced, failed, cancelled } = account;
  return account.planned - (ran + skipped + missed + coalesced + failed + cancelled);
}
