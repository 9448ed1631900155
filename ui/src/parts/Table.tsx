import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { Fragment, type MouseEvent, type ReactNode, useEffect, useRef, useState } from "react";
import type { List } from "@/api/useList";
import { type Action, type Handlers, useKeys } from "@/shell/keys";
import { ErrorNote } from "./ErrorNote";
import { Loading } from "./Loading";
import { LoadMore } from "./LoadMore";
import classes from "./Table.module.css";

export interface Column<Row> {
  key: string;
  title: ReactNode;
  render: (row: Row) => ReactNode;
  /** A width of CSS; without one it shares what is left. */
  width?: string;
  align?: "right";
  /** Hidden on a phone. */
  isWide?: boolean;
}

interface Props<Row> {
  /** What the table contains, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Called with Enter or a click beside the links of a row. */
  onOpen?: ((row: Row) => void) | undefined;
  /** The row that a drawer shows. */
  openKey?: string | undefined;
  /** The selected rows, for bulk actions. Without it, rows cannot be selected. */
  selected?: ReadonlySet<string>;
  onSelect?: (selected: ReadonlySet<string>) => void;
  /** Handlers of further keys for the current row: `{ runNow: (job) => ... }`. */
  keys?: Partial<Record<Action, (row: Row) => void>>;
  /** Told which row the keyboard is on. */
  onCurrent?: (row: Row | undefined) => void;
  /** Shown if there are no rows: an EmptyState. */
  empty: ReactNode;
  /** The list that the rows come from: shows its error, its loading state and its next page. */
  list?: List<Row>;
  /** False for a second table on a page, so that j and k move in one of them. */
  hasKeys?: boolean;
  /** What is shown below a row that is expanded; null for the others. A list with one is not virtual. */
  detail?: (row: Row) => ReactNode;
}

const ROW_HEIGHT = { list: 32, phone: 40 };
const VIRTUAL_FROM = 120;

/** A list of rows of 32 px. Long ones are virtual. Keys: j, k, Enter, x. */
export function Table<Row>(props: Props<Row>) {
  const { columns, rows, label, list, empty, selected, onSelect, rowKey } = props;
  if (list?.error && rows.length === 0) return <ErrorNote error={list.error} onRetry={list.reload} />;
  if (list?.isLoading) return <Loading />;
  if (rows.length === 0) return <>{empty}</>;
  const areAllSelected = selected !== undefined && rows.every((row) => selected.has(rowKey(row)));
  return (
    <>
      {list?.error && <ErrorNote error={list.error} onRetry={list.reload} />}
      <table className={classes.table} aria-label={label} aria-rowcount={list?.hasMore ? -1 : rows.length}>
        <colgroup>
          {onSelect && <col style={{ width: 36 }} />}
          {columns.map((column) => (
            <col key={column.key} className={column.isWide ? "wide" : undefined} style={{ width: column.width }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {onSelect && (
              <th scope="col">
                <input
                  type="checkbox"
                  aria-label="Select all rows that are shown"
                  checked={areAllSelected}
                  onChange={() => onSelect(areAllSelected ? new Set() : new Set(rows.map(rowKey)))}
                />
              </th>
            )}
            {columns.map((column) => (
              <th key={column.key} scope="col" data-align={column.align} className={column.isWide ? "wide" : undefined}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <Body {...props} />
      </table>
      {list && <LoadMore list={list as List<unknown>} />}
    </>
  );
}

function Body<Row>(props: Props<Row>) {
  const { rows, rowKey, columns, onSelect, detail } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const current = useCurrentRow(props);
  const isVirtual = rows.length > VIRTUAL_FROM && !detail;
  const height = window.matchMedia?.("(max-width: 640px)").matches ? ROW_HEIGHT.phone : ROW_HEIGHT.list;
  const virtual = useWindowVirtualizer({
    enabled: isVirtual,
    count: rows.length,
    estimateSize: () => height,
    overscan: 12,
    scrollMargin: body.current?.offsetTop ?? 0,
    getItemKey: (index) => rowKey(rows[index] as Row),
  });
  const scrolledTo = useRef(-1);
  useEffect(() => {
    if (current.index === scrolledTo.current || current.index < 0) return;
    scrolledTo.current = current.index;
    if (isVirtual) virtual.scrollToIndex(current.index, { align: "auto" });
    else body.current?.querySelector("[data-current]")?.scrollIntoView?.({ block: "nearest" });
  });
  const span = columns.length + (onSelect ? 1 : 0);
  const row = (index: number) => {
    const one = rows[index] as Row;
    const below = detail?.(one);
    return (
      <Fragment key={rowKey(one)}>
        <Line {...props} index={index} current={current} />
        {below && (
          <tr className={classes.detail}>
            <td colSpan={span}>{below}</td>
          </tr>
        )}
      </Fragment>
    );
  };
  if (!isVirtual) return <tbody ref={body}>{rows.map((_, index) => row(index))}</tbody>;
  const shown = virtual.getVirtualItems();
  const before = (shown[0]?.start ?? 0) - virtual.options.scrollMargin;
  const after = virtual.getTotalSize() - ((shown.at(-1)?.end ?? 0) - virtual.options.scrollMargin);
  return (
    <tbody ref={body}>
      <Space height={before} span={span} />
      {shown.map((item) => row(item.index))}
      <Space height={after} span={span} />
    </tbody>
  );
}

function Space({ height, span }: { height: number; span: number }) {
  return height > 0 ? (
    <tr>
      <td colSpan={span} className={classes.space} style={{ height }} />
    </tr>
  ) : null;
}

interface Current {
  index: number;
  set: (index: number) => void;
}

/** The row of the keyboard. It stays on its row when rows are added before it. */
function useCurrentRow<Row>(props: Props<Row>): Current {
  const { rows, rowKey, onOpen, onSelect, selected, keys, onCurrent, hasKeys = true } = props;
  const [key, setKey] = useState<string | null>(null);
  const index = key === null ? -1 : rows.findIndex((row) => rowKey(row) === key);
  const set = (to: number) => {
    const row = rows[Math.max(0, Math.min(to, rows.length - 1))];
    setKey(row ? rowKey(row) : null);
    onCurrent?.(row);
  };
  const row = rows[index];
  const withRow = (act: ((row: Row) => void) | undefined) => () => {
    if (!row || !act) return false;
    act(row);
    return true;
  };
  const handlers: Handlers = {
    next: () => set(index + 1),
    previous: () => set(index < 0 ? 0 : index - 1),
    open: withRow(onOpen),
    select: withRow(onSelect && selected ? (one) => onSelect(toggled(selected, rowKey(one))) : undefined),
  };
  for (const [action, act] of Object.entries(keys ?? {})) handlers[action as Action] = withRow(act);
  useKeys(hasKeys ? handlers : {});
  return { index, set };
}

function toggled(selected: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const changed = new Set(selected);
  if (!changed.delete(key)) changed.add(key);
  return changed;
}

function Line<Row>(props: Props<Row> & { index: number; current: Current }) {
  const { rows, rowKey, columns, onOpen, openKey, onSelect, selected, index, current } = props;
  const row = rows[index] as Row;
  const key = rowKey(row);
  const open = (event: MouseEvent) => {
    const isOnControl = (event.target as Element).closest("a, button, input, label");
    if (isOnControl || window.getSelection()?.toString()) return;
    current.set(index);
    onOpen?.(row);
  };
  return (
    // The link in the row is for keyboards and screen readers; a click beside it is a shortcut.
    <tr
      data-current={index === current.index || undefined}
      data-selected={key === openKey || selected?.has(key) || undefined}
      aria-selected={onSelect ? (selected?.has(key) ?? false) : undefined}
      data-opens={onOpen ? true : undefined}
      onClick={open}
    >
      {onSelect && selected && (
        <td>
          <input
            type="checkbox"
            aria-label={`Select ${key}`}
            checked={selected.has(key)}
            onChange={() => onSelect(toggled(selected, key))}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.key} data-align={column.align} className={column.isWide ? "wide" : undefined}>
          {column.render(row)}
        </td>
      ))}
    </tr>
  );
}
