import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import type { RunView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { EmptyState } from "@/parts/EmptyState";
import { PageTitle } from "@/parts/PageTitle";
import { Table } from "@/parts/Table";
import { useKeys } from "@/shell/keys";
import { counted } from "@/time/format";
import { columnsOf, hasBelow } from "./columns";
import { Filters } from "./Filters";
import { runsQuery } from "./query";
import { RunBelow } from "./RunBelow";
import classes from "./runs.module.css";
import { isFiltered, openedOf, type RunsSearch, toggledOpen } from "./search";
import { useSteady } from "./steady";

const NEAR_TOP = 120;

/** All runs, newest first, live. Those with runs below them fold out in their place. */
export function RunsPage() {
  const search = useSearch({ from: "/runs" });
  const navigate = useNavigate({ from: "/runs" });
  const list = useList(runsQuery(search));
  const isUnder = useRef(false);
  const { open: _, ...filter } = search;
  const opened = openedOf(search);
  const isBusy = () => isUnder.current || window.scrollY > NEAR_TOP || opened.length > 0;
  const steady = useSteady(list.items, JSON.stringify(filter), isBusy);
  const input = useRef<HTMLInputElement>(null);
  const change = (next: RunsSearch) =>
    void navigate({
      search: (old) => ({ ...((old as { tz?: string }).tz ? { tz: (old as { tz?: string }).tz } : {}), ...next }),
      replace: true,
      resetScroll: false,
    });
  const toggle = (run: RunView) => change(toggledOpen(search, run.id));
  useKeys({ search: () => input.current?.focus() });
  return (
    <>
      <PageTitle
        title="Runs"
        sub={isFiltered(search) ? undefined : "Newest first. Steps and items are below their run."}
      />
      <Filters search={search} onChange={change} input={input} />
      <div className={classes.place} aria-live="polite">
        {steady.held > 0 && (
          <button
            type="button"
            className={classes.fresh}
            onClick={() => {
              steady.show();
              window.scrollTo({ top: 0 });
            }}
          >
            Show {counted(steady.held, "new run")}
          </button>
        )}
      </div>
      <div
        onPointerEnter={() => {
          isUnder.current = true;
        }}
        onPointerLeave={() => {
          isUnder.current = false;
        }}
      >
        <Table
          label="Runs"
          columns={columnsOf(opened, toggle)}
          rows={steady.rows}
          rowKey={(run) => run.id}
          list={list}
          onOpen={(run) => void navigate({ to: "/runs/$runId", params: { runId: run.id } })}
          onCurrent={(run) => {
            isUnder.current = run !== undefined;
          }}
          keys={{
            tickRight: (run) => hasBelow(run) && !opened.includes(run.id) && toggle(run),
            tickLeft: (run) => opened.includes(run.id) && toggle(run),
          }}
          detail={(run) => opened.includes(run.id) && <RunBelow run={run} />}
          empty={<Empty search={search} hasMore={list.hasMore} />}
        />
      </div>
    </>
  );
}

function Empty({ search, hasMore }: { search: RunsSearch; hasMore: boolean }) {
  if (hasMore) return <p className="faint">Searching older runs …</p>;
  if (isFiltered(search))
    return <EmptyState title="No run has these filters">Remove one of them, or look at all runs.</EmptyState>;
  return (
    <EmptyState
      title="No runs yet"
      command="foliot trigger hello"
      toml={'[[jobs]]\nid = "hello"\nevery = "1m"\ncommand = "echo hello"'}
    >
      A run is one execution of a job. Add a job with a schedule, or start one by hand.
    </EmptyState>
  );
}
