/** Items of a fanout: their statuses, counts and how they are asked for. */
import { list, one } from "@/api/queries";
import type { FanoutView, ItemStatus, ItemView } from "@/api/types.gen";
import type { Mark } from "@/status/table";

export const ITEM_STATUSES: readonly ItemStatus[] = [
  "failed",
  "timeout",
  "partial",
  "running",
  "waiting",
  "pending",
  "success",
  "cancelled",
  "skipped",
];

/** A map of more items than this is no help. */
export const MOST_MAPPED = 400;

export interface ItemsFilter {
  status?: ItemStatus | undefined;
  q?: string | undefined;
}

/** Return how many items have a status. */
export function countOf(fanout: FanoutView, status: ItemStatus): number {
  switch (status) {
    case "success":
      return fanout.succeeded;
    case "timeout":
      return fanout.timed_out;
    case "partial":
      return 0;
    default:
      return fanout[status];
  }
}

/** Return the pattern that finds a text anywhere in an item. A text with wildcards is a pattern itself. */
export function patternOf(text: string | undefined): string | undefined {
  const wanted = text?.trim();
  if (!wanted) return undefined;
  return /[*?[]/.test(wanted) ? wanted : `*${wanted}*`;
}

export const itemsQuery = (runId: string, { status, q }: ItemsFilter, limit = 50) =>
  list("runs", "/api/runs/{run_id}/items", {
    path: { run_id: runId },
    query: { limit, status: status ?? null, pattern: patternOf(q) ?? null },
  });

export const itemQuery = (runId: string, item: string) =>
  one("runs", "/api/runs/{run_id}/item", { path: { run_id: runId }, query: { item } });

/** Return what an item is, as text. Bytes that are no text are shown as Base64. */
export const itemText = (item: ItemView): string => item.item ?? `base64:${item.item_base64 ?? ""}`;

const MARKS: Record<string, Mark> = {
  success: "ran",
  partial: "partial",
  failed: "failed",
  timeout: "timeout",
  running: "running",
  cancelling: "running",
  cancelled: "cancelled",
  skipped: "skipped",
};

/** Return the mark of an item in the map. */
export const markOfItem = (item: ItemView): Mark => MARKS[item.status] ?? "planned";

/** Return how many items have ended with something that a re-run repeats. */
export const failedCount = (fanout: FanoutView): number => fanout.failed + fanout.timed_out + fanout.cancelled;
