import type { FanoutView } from "@/api/types.gen";
import { entryOf } from "@/status/table";
import classes from "./fanout.module.css";
import { countOf, ITEM_STATUSES } from "./items";

/** The items as one bar by status, for fanouts that are too large for a map. */
export function CountsBar({ fanout }: { fanout: FanoutView }) {
  const parts = ITEM_STATUSES.filter((status) => !["pending", "waiting"].includes(status))
    .map((status) => ({ status, count: countOf(fanout, status) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => order(a.status) - order(b.status));
  const words = parts.map(({ status, count }) => `${count} ${entryOf(status).word}`).join(", ");
  return (
    <div className={classes.bar} role="img" aria-label={words || "No item has ended."} title={words}>
      {parts.map(({ status, count }) => (
        <i key={status} data-hue={entryOf(status).hue} style={{ width: `${(count / fanout.items) * 100}%` }} />
      ))}
    </div>
  );
}

const ORDER = ["success", "partial", "skipped", "cancelled", "failed", "timeout", "running"];
const order = (status: string): number => ORDER.indexOf(status);
