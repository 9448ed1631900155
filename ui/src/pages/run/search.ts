import type { ItemStatus } from "@/api/types.gen";
import { oneOf, text } from "@/shell/search";
import { ITEM_STATUSES } from "./fanout/items";

/** The search params of this page. The lines of the log that are selected are in the hash: #L120-L140. */
export interface RunSearch {
  /** The item of a fanout that is selected, by its index. */
  item?: string | undefined;
  /** The run below this one whose log is shown. */
  child?: string | undefined;
  /** Items with this status. */
  status?: ItemStatus | undefined;
  /** Items that contain this text. */
  q?: string | undefined;
}

export const validateRunSearch = (search: Record<string, unknown>): RunSearch => ({
  item: text(search, "item"),
  child: text(search, "child"),
  status: oneOf(search, "status", ITEM_STATUSES),
  q: text(search, "q"),
});
