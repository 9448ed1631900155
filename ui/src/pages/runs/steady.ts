/** Rows that stay where they are while new ones arrive: they are held back until it does no harm to show them. */
import { useEffect, useRef, useState } from "react";

interface Steady<Row> {
  rows: Row[];
  /** How many new rows are held back. */
  held: number;
  show: () => void;
}

/** Return the rows from the newest one on that was shown. If it has left the list, all are shown. */
export function fromTop<Row extends { id: string }>(rows: Row[], top: string | undefined): Row[] {
  const index = top === undefined ? -1 : rows.findIndex((row) => row.id === top);
  return index > 0 ? rows.slice(index) : rows;
}

/** `key`: another filter begins anew. `isBusy`: the pointer or the keyboard is in the list, or it is scrolled. */
export function useSteady<Row extends { id: string }>(rows: Row[], key: string, isBusy: () => boolean): Steady<Row> {
  const [shown, setShown] = useState<{ key: string; top: string | undefined }>({ key, top: undefined });
  const newest = rows[0]?.id;
  const top = shown.key === key ? shown.top : undefined;
  const busy = useRef(isBusy);
  busy.current = isBusy;
  useEffect(() => {
    if (top === undefined || !busy.current()) setShown({ key, top: newest });
  }, [key, newest, top]);
  const steady = fromTop(rows, top);
  return { rows: steady, held: rows.length - steady.length, show: () => setShown({ key, top: newest }) };
}
