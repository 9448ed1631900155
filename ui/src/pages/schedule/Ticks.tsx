import { useNavigate } from "@tanstack/react-router";
import type { LedgerPage, StripTick } from "@/api/types.gen";
import { Came } from "@/pages/ledger/Came";
import { Chips } from "@/parts/Chips";
import { EmptyState } from "@/parts/EmptyState";
import { type Column, Table } from "@/parts/Table";
import { MomentText } from "@/parts/times";
import { MarkWord } from "@/status/StatusWord";
import { hasFailed, markOf } from "@/status/table";
import classes from "./Schedule.module.css";
import { KINDS, type Kind } from "./search";

const COLUMNS: readonly Column<StripTick>[] = [
  { key: "at", title: "Planned", width: "150px", render: (tick) => <MomentText at={tick.scheduled_for} /> },
  { key: "outcome", title: "Outcome", width: "var(--outcome)", render: (tick) => <MarkWord mark={markOf(tick)} /> },
  { key: "reason", title: "Reason", width: "110px", isWide: true, render: (tick) => <code>{tick.reason}</code> },
  { key: "came", title: "What came of it", isWide: true, render: (tick) => <Came tick={tick} /> },
];

const FITS: Record<Kind, (tick: StripTick) => boolean> = {
  missed: (tick) => tick.outcome === "missed",
  failed: (tick) => tick.outcome === "failed" || (tick.status !== null && hasFailed(tick.status)),
  late: (tick) => tick.is_late,
  skipped: (tick) => tick.outcome === "skipped",
  coalesced: (tick) => tick.outcome === "coalesced",
  cancelled: (tick) => tick.outcome === "cancelled",
};

interface Props {
  page: LedgerPage;
  /** Newest first. */
  ticks: readonly StripTick[];
  kind: Kind | undefined;
  open: string | undefined;
  onOpen: (name: string) => void;
}

/** The ticks of the calendar as a list, with a filter for what stands out. */
export function Ticks({ page, ticks, kind, open, onOpen }: Props) {
  const navigate = useNavigate({ from: "/schedules/$scheduleId" });
  const { counts, schedule_id: id } = page;
  // The account counts what had to catch up; the marks also show what began late.
  const late = ticks.filter(FITS.late).reduce((sum, tick) => sum + tick.count, 0);
  const numbers = { ...counts, failed: counts.failed + counts.failed_runs, late };
  const options = [
    { value: "all", word: "All", count: counts.planned },
    ...KINDS.filter((one) => numbers[one] > 0 || one === kind).map((one) => ({
      value: one,
      word: one,
      count: numbers[one],
    })),
  ];
  const shown = kind ? ticks.filter(FITS[kind]) : ticks;
  const nameOf = (tick: StripTick) => `${id}@${tick.scheduled_for}`;
  return (
    <div className={classes.ticks}>
      <div style={{ margin: "20px 0 8px" }}>
        <Chips
          label="Ticks"
          options={options}
          value={kind ?? "all"}
          onChange={(value) => {
            const chosen = KINDS.find((one) => one === value);
            void navigate({ search: (old) => ({ ...old, kind: chosen }), replace: true });
          }}
        />
      </div>
      <Table
        label="Ticks"
        columns={COLUMNS}
        rows={shown}
        rowKey={nameOf}
        onOpen={(tick) => onOpen(nameOf(tick))}
        openKey={open}
        empty={
          <EmptyState title="No ticks">
            {kind ? "No tick of these days fits." : "The schedule has not fired in these days."}
          </EmptyState>
        }
      />
    </div>
  );
}
