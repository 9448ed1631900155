import type { ItemStatus } from "@/api/types.gen";
import { ITEM_STATUSES } from "@/pages/run/fanout/items";
import { count, oneOf, text } from "@/shell/search";

export const VIEWS = ["graph", "steps", "gantt"] as const;
export type WorkflowPart = (typeof VIEWS)[number];

export interface WorkflowSearch {
  /** The run of the execution that is shown. Without it: the newest one. */
  execution?: string | undefined;
  version?: number | undefined;
  view?: WorkflowPart | undefined;
  /** The step in the drawer. */
  step?: string | undefined;
  /** The fanout whose items are folded out in the graph. */
  unfold?: string | undefined;
  /** In the drawer of a fanout: the item whose log is shown, by its index, and the items that are listed. */
  item?: number | undefined;
  status?: ItemStatus | undefined;
  /** The version whose definition is compared with the one before. */
  compare?: number | undefined;
}

export function validateWorkflowSearch(search: Record<string, unknown>): WorkflowSearch {
  return {
    execution: text(search, "execution"),
    version: count(search, "version"),
    view: oneOf(search, "view", VIEWS),
    step: text(search, "step"),
    unfold: text(search, "unfold"),
    item: count(search, "item"),
    status: oneOf(search, "status", ITEM_STATUSES),
    compare: count(search, "compare"),
  };
}
