import type { FanoutView, ItemView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { entryOf } from "@/status/table";
import classes from "./fanout.module.css";
import { itemsQuery, itemText, MOST_MAPPED } from "./items";

interface Props {
  runId: string;
  fanout: FanoutView;
  selected: number | undefined;
  onSelect: (item: ItemView) => void;
}

/** Every item as a mark, in order. Shape and hue are those of its status. */
export function ItemMap({ runId, fanout, selected, onSelect }: Props) {
  const list = useList(itemsQuery(runId, {}, MOST_MAPPED));
  if (fanout.items > MOST_MAPPED || fanout.items === 0) return null;
  const missing = Math.max(0, fanout.items - list.items.length);
  return (
    <ul className={classes.map} aria-label="All items">
      {list.items.map((item) => (
        <li key={item.index}>
          <button
            type="button"
            className={classes.cell}
            data-status={shapeOf(item.status)}
            aria-current={item.index === selected || undefined}
            aria-label={`Item ${item.index} ${itemText(item)}: ${entryOf(item.status).word}`}
            title={`${item.index} · ${itemText(item)} · ${entryOf(item.status).word}`}
            onClick={() => onSelect(item)}
          >
            <Shape status={shapeOf(item.status)} />
          </button>
        </li>
      ))}
      {list.isLoading &&
        Array.from({ length: missing }, (_, index) => (
          <li key={`missing ${String(index)}`} className={classes.cell} data-status="pending">
            <Shape status="pending" />
          </li>
        ))}
    </ul>
  );
}

type ShapeName = "success" | "partial" | "failed" | "timeout" | "running" | "skipped" | "cancelled" | "pending";

const SHAPES: Record<string, ShapeName> = {
  success: "success",
  partial: "partial",
  failed: "failed",
  timeout: "timeout",
  running: "running",
  cancelling: "running",
  skipped: "skipped",
  cancelled: "cancelled",
};
const shapeOf = (status: string): ShapeName => SHAPES[status] ?? "pending";

/** The marks of the tick strip in a square of 13: full if it ran, broken if it failed, low if it was decided not to. */
function Shape({ status }: { status: ShapeName }) {
  return (
    <svg width="13" height="13" viewBox="0 0 13 13" aria-hidden="true">
      {SHAPE[status]}
    </svg>
  );
}

const SHAPE = {
  success: <rect width="13" height="13" rx="2.5" fill="currentColor" />,
  partial: (
    <>
      <rect x=".6" y=".6" width="11.8" height="11.8" rx="2.2" fill="none" stroke="currentColor" strokeWidth="1.2" />
      <rect y="6.5" width="13" height="6.5" rx="2" fill="currentColor" />
    </>
  ),
  failed: (
    <>
      <rect width="13" height="5.4" rx="1.6" fill="currentColor" />
      <rect y="7.6" width="13" height="5.4" rx="1.6" fill="currentColor" />
    </>
  ),
  timeout: <path d="M.5 0h12L8 6.5l4.5 6.5H.5L5 6.5z" fill="currentColor" />,
  running: (
    <>
      <rect width="13" height="13" rx="2.5" fill="currentColor" />
      <circle cx="6.5" cy="6.5" r="2.2" fill="var(--surface)" />
    </>
  ),
  skipped: <rect y="8" width="13" height="5" rx="1.5" fill="currentColor" />,
  cancelled: <rect y="10.4" width="13" height="2.2" rx="1.1" fill="currentColor" />,
  pending: <rect x=".5" y=".5" width="12" height="12" rx="2.2" fill="none" stroke="currentColor" />,
};
