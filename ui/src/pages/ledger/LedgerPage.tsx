import { TextInput } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { ticks } from "@/api/queries";
import type { TickView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { Chips } from "@/parts/Chips";
import { EmptyState } from "@/parts/EmptyState";
import { ScheduleLink } from "@/parts/links";
import { PageTitle } from "@/parts/PageTitle";
import { type Column, Table } from "@/parts/Table";
import { MomentText } from "@/parts/times";
import { useKeys } from "@/shell/keys";
import { MarkWord } from "@/status/StatusWord";
import { markOf } from "@/status/table";
import { counted } from "@/time/format";
import { Came } from "./Came";
import classes from "./Ledger.module.css";
import { OUTCOMES } from "./search";
import { TickDrawer } from "./TickDrawer";

const EXAMPLE = '[[jobs]]\nid = "backup"\ncommand = "bin/backup"\ncron = "30 2 * * *"';

const OPTIONS = [{ value: "all", word: "All" }, ...OUTCOMES.map((outcome) => ({ value: outcome, word: outcome }))];

const COLUMNS: readonly Column<TickView>[] = [
  { key: "at", title: "Planned", width: "var(--at)", render: (tick) => <MomentText at={tick.scheduled_for} /> },
  { key: "outcome", title: "Outcome", width: "var(--outcome)", render: (tick) => <MarkWord mark={markOf(tick)} /> },
  {
    key: "schedule",
    title: "Schedule",
    width: "var(--schedule)",
    render: (tick) => <ScheduleLink id={tick.schedule_id} />,
  },
  { key: "reason", title: "Reason", width: "110px", isWide: true, render: (tick) => <code>{tick.reason}</code> },
  { key: "came", title: "What came of it", isWide: true, render: (tick) => <Came tick={tick} /> },
];

export const nameOf = (tick: Pick<TickView, "schedule_id" | "scheduled_for">) =>
  `${tick.schedule_id}@${tick.scheduled_for}`;

/** Every planned time of every schedule, newest first, with its one outcome. */
export function LedgerPage() {
  const { outcome, name, since, until, open } = useSearch({ from: "/ledger" });
  const navigate = useNavigate({ from: "/ledger" });
  const list = useList(
    ticks.list({ outcome: outcome ?? null, name: name ?? null, since: since ?? null, until: until ?? null }),
  );
  const input = useRef<HTMLInputElement>(null);
  useKeys({ search: () => input.current?.focus() });
  const show = (tick: TickView | undefined) =>
    navigate({ search: (old) => ({ ...old, open: tick && nameOf(tick) }), replace: true });
  const find = (value: string) =>
    navigate({ search: (old) => ({ ...old, name: value.trim() || undefined, open: undefined }), replace: true });
  const index = list.items.findIndex((tick) => nameOf(tick) === open);
  const [before, after] = [list.items[index - 1], list.items[index + 1]];
  return (
    <div className={classes.page}>
      <PageTitle
        title="Ledger"
        sub="Every planned time of every schedule has exactly one outcome. Open a schedule for its calendar."
      />
      <div className={classes.filters}>
        <Chips
          label="Outcome"
          options={OPTIONS}
          value={outcome ?? "all"}
          onChange={(value) => {
            const chosen = OUTCOMES.find((one) => one === value);
            void navigate({ search: (old) => ({ ...old, outcome: chosen, open: undefined }), replace: true });
          }}
        />
        <TextInput
          ref={input}
          key={name}
          aria-label="Job, workflow or schedule"
          placeholder="Job, workflow or schedule"
          defaultValue={name}
          onBlur={(event) => event.currentTarget.value !== (name ?? "") && find(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && find(event.currentTarget.value)}
        />
        {since && (
          <button
            type="button"
            className={classes.since}
            onClick={() => navigate({ search: (old) => ({ ...old, since: undefined }), replace: true })}
          >
            since <MomentText at={since} /> ×
          </button>
        )}
      </div>
      <Table
        label="Ticks"
        columns={COLUMNS}
        rows={list.items}
        rowKey={nameOf}
        list={list}
        onOpen={show}
        openKey={open}
        empty={
          outcome || name || since ? (
            <EmptyState title="No ticks">No tick fits these filters.</EmptyState>
          ) : (
            <EmptyState title="No ticks yet" toml={EXAMPLE}>
              A tick is a planned time of a schedule. Give a job a schedule:
            </EmptyState>
          )
        }
      />
      {open && (
        <TickDrawer
          name={open}
          note={list.items[index] && list.items[index].count > 1 ? counted(list.items[index].count, "tick") : undefined}
          onClose={() => show(undefined)}
          onPrevious={before && (() => show(before))}
          onNext={after && (() => show(after))}
        />
      )}
    </div>
  );
}
