import { Button, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { type ReactNode, useEffect, useState } from "react";
import type { FanoutView, ItemStatus, ItemView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { type ChipOption, Chips } from "@/parts/Chips";
import { RunLink } from "@/parts/links";
import { type Column, Table } from "@/parts/Table";
import { Duration, RelativeTime } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { entryOf, hasFailed } from "@/status/table";
import { counted } from "@/time/format";
import { endText } from "../why";
import { CountsBar } from "./CountsBar";
import classes from "./fanout.module.css";
import { ItemMap } from "./ItemMap";
import { countOf, ITEM_STATUSES, type ItemsFilter, itemsQuery, itemText, MOST_MAPPED } from "./items";
import { Reducer } from "./Reducer";

interface Props {
  runId: string;
  fanout: FanoutView;
  filter: ItemsFilter;
  onFilter: (filter: ItemsFilter) => void;
  selected?: number | undefined;
  /** Called when an item is chosen. Without it, items are links to their runs only. */
  onSelect?: ((item: ItemView) => void) | undefined;
  /** Buttons beside the search. */
  actions?: ReactNode;
  /** j and k move in this table. */
  hasKeys?: boolean;
}

/** The items of a fanout in every state: map, counts, search, table and the reducer. */
export function Items({ runId, fanout, filter, onFilter, selected, onSelect, actions, hasKeys = false }: Props) {
  const list = useList(itemsQuery(runId, filter));
  const [isWhole, setWhole] = useState(false);
  const isFiltered = filter.status !== undefined || filter.q !== undefined;
  const rows = isFiltered ? list.items : failedFirst(fanout, list.items);
  const shown = isWhole ? rows : rows.slice(0, FEW);
  const firstFailed = fanout.first_failed[0];
  const choose = onSelect ?? (() => undefined);
  return (
    <>
      <div className={classes.head}>
        <Sum fanout={fanout} />
        {firstFailed && onSelect && <Button onClick={() => choose(firstFailed)}>First failed</Button>}
        {actions}
        <Finder value={filter.q} onChange={(q) => onFilter({ ...filter, q })} />
      </div>
      {fanout.items > MOST_MAPPED || !onSelect ? (
        <CountsBar fanout={fanout} />
      ) : (
        <ItemMap runId={runId} fanout={fanout} selected={selected} onSelect={choose} />
      )}
      <div className={classes.chips}>
        <Chips
          label="Status of items"
          options={chipsOf(fanout, filter.status)}
          value={filter.status ?? "all"}
          onChange={(status) => onFilter({ ...filter, status: status === "all" ? undefined : status })}
        />
      </div>
      <Table
        label="Items"
        columns={columnsOf(onSelect)}
        rows={shown}
        rowKey={(item) => String(item.index)}
        {...(isWhole || list.isLoading || list.error ? { list } : {})}
        openKey={selected === undefined ? undefined : String(selected)}
        onOpen={onSelect}
        hasKeys={hasKeys}
        empty={
          <p className={classes.note}>
            {list.hasMore ? "Searching …" : `No item ${filter.q ? `contains "${filter.q}"` : "has this status"}.`}
          </p>
        }
      />
      {list.items.length === 0 && list.hasMore && <ReadOn loadMore={list.loadMore} isLoading={list.isLoadingMore} />}
      {!isWhole && (rows.length > FEW || list.hasMore) && (
        <p className={classes.more}>
          {moreText(fanout, filter, rows.length)}{" "}
          <button type="button" className={classes.show} onClick={() => setWhole(true)}>
            Show
          </button>
        </p>
      )}
      {fanout.reducer && <Reducer reducer={fanout.reducer} left={fanout.items - fanout.ended} />}
    </>
  );
}

const FEW = 10;

/** Items that failed come first, where nothing else is asked for. */
function failedFirst(fanout: FanoutView, items: ItemView[]): ItemView[] {
  const first = new Set(fanout.first_failed.map((item) => item.index));
  return [...fanout.first_failed, ...items.filter((item) => !first.has(item.index))];
}

function moreText(fanout: FanoutView, filter: ItemsFilter, loaded: number): string {
  if (filter.q !== undefined || filter.status === "partial") return `More than ${FEW} items.`;
  const count = filter.status ? countOf(fanout, filter.status) : fanout.items;
  return `${Math.max(count, loaded) - FEW} more.`;
}

/** A page of a filtered list may be empty although more follow. */
function ReadOn({ loadMore, isLoading }: { loadMore: () => void; isLoading: boolean }) {
  useEffect(() => {
    if (!isLoading) loadMore();
  }, [loadMore, isLoading]);
  return null;
}

function Sum({ fanout }: { fanout: FanoutView }) {
  const failures = fanout.failed + fanout.timed_out;
  const tolerated = Math.floor(fanout.items * fanout.partial_tolerance);
  return (
    <p className={classes.sum}>
      <b>{fanout.ended.toLocaleString("en")}</b> of {counted(fanout.items, "item")} have ended
      {(failures > 0 || tolerated > 0) && (
        <>
          , <b>{failures.toLocaleString("en")}</b>
          {tolerated > 0 ? ` of ${counted(tolerated, "tolerated failure")}` : ` failed`}
        </>
      )}
    </p>
  );
}

const AFTER_KEY = 250;

function Finder({ value, onChange }: { value: string | undefined; onChange: (value: string | undefined) => void }) {
  const [text, setText] = useState(value ?? "");
  const tell = useDebouncedCallback((given: string) => onChange(given.trim() || undefined), AFTER_KEY);
  return (
    <TextInput
      aria-label="Find items"
      placeholder="Find item"
      w={170}
      leftSection={<IconSearch size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        tell(event.target.value);
      }}
    />
  );
}

function chipsOf(fanout: FanoutView, chosen: ItemStatus | undefined): ChipOption<ItemStatus | "all">[] {
  const statuses = ITEM_STATUSES.filter((status) => countOf(fanout, status) > 0 || status === chosen);
  return [
    { value: "all", word: "All", count: fanout.items },
    ...statuses.map((status) => ({
      value: status,
      word: entryOf(status).word,
      status,
      count: status === "partial" ? undefined : countOf(fanout, status),
    })),
  ];
}

function columnsOf(onSelect: ((item: ItemView) => void) | undefined): Column<ItemView>[] {
  const columns: Column<ItemView>[] = [
    { key: "index", title: "#", width: "56px", align: "right", isWide: true, render: (item) => item.index },
    {
      key: "item",
      title: "Item",
      render: (item) =>
        onSelect ? (
          <button
            type="button"
            className={`${classes.link} mono`}
            title={itemText(item)}
            onClick={() => onSelect(item)}
          >
            {itemText(item)}
          </button>
        ) : item.run_id ? (
          <RunLink id={item.run_id}>
            <span className="mono">{itemText(item)}</span>
          </RunLink>
        ) : (
          <span className="mono">{itemText(item)}</span>
        ),
    },
    { key: "status", title: "Status", width: "110px", render: (item) => <StatusWord status={item.status} /> },
    {
      key: "attempt",
      title: "Attempts",
      width: "76px",
      align: "right",
      isWide: true,
      render: (item) => item.attempt || <span className="faint">–</span>,
    },
    {
      key: "duration",
      title: "Duration",
      width: "92px",
      align: "right",
      render: (item) =>
        item.status === "running" ? <Duration since={item.started_at} /> : <Duration seconds={item.duration} />,
    },
    {
      key: "ended",
      title: "Ended",
      width: "96px",
      isWide: true,
      render: (item) => <RelativeTime at={item.finished_at} />,
    },
    {
      key: "why",
      title: "Why",
      isWide: true,
      render: (item) => (
        <span className={hasFailed(item.status as never) ? undefined : "muted"} title={item.error_message ?? undefined}>
          {endText(item)}
        </span>
      ),
    },
    {
      key: "run",
      title: "Run",
      width: "88px",
      isWide: true,
      render: (item) => (item.run_id && onSelect ? <RunLink id={item.run_id} /> : null),
    },
  ];
  return onSelect ? columns : columns.slice(0, -1);
}
