import { useMediaQuery } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useMe } from "@/access/useMe";
import type { JobRow } from "@/api/types.gen";
import type { List } from "@/api/useList";
import { type Column, Table } from "@/parts/Table";
import { PLANNED, SETTLED, type Slot, settledSlots } from "@/ticks/slots";
import { LastCell, NextCell, NextMoment, ScheduleCell, Tags } from "./cells";
import { JobName } from "./JobName";
import { JobStrip } from "./JobStrip";
import classes from "./jobs.module.css";
import { NO_FILTER, NoJobs } from "./NoJobs";
import { RowActions } from "./RowActions";
import type { JobsSearch } from "./search";
import { tickName } from "./TickDrawer";
import { useJobActions } from "./useJobActions";
import { roughly } from "./words";

interface Props {
  list: List<JobRow>;
  search: JobsSearch;
  onChange: (change: Partial<JobsSearch>) => void;
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
}

interface Place {
  /** The job of the row that the keyboard is on. */
  id: string;
  /** The place in its strip, chosen with h and l. */
  tick: number | null;
}

/** The list of jobs and its keys. */
export function JobTable({ list, search, onChange, selected, onSelect }: Props) {
  const navigate = useNavigate();
  const { may } = useMe();
  const actions = useJobActions();
  const isPhone = useMediaQuery("(max-width: 640px)", false, { getInitialValueInEffect: false });
  const [place, setPlace] = useState<Place | null>(null);
  const [running, setRunning] = useState<string | null>(null);
  const openTick = (slot: Slot) => {
    setPlace((old) => old && { ...old, tick: null });
    onChange({ tick: tickName(slot) });
  };

  const open = (row: JobRow) => {
    const slot = place?.id === row.id && place.tick !== null ? slotOf(row, place.tick) : undefined;
    if (slot) openTick(slot);
    else void navigate(pageOf(row));
  };
  const move = (by: number) => (row: JobRow) => {
    const now = place?.id === row.id ? place.tick : null;
    setPlace({ id: row.id, tick: moved(row, now, by) });
  };
  const columns: Column<JobRow>[] = [
    {
      key: "id",
      title: "Job",
      width: "var(--job-width)",
      render: (row) => (
        <>
          <JobName id={row.id} kind={row.kind} />
          <span className={classes.kind}>{row.kind}</span>
          <div className={`${classes.below} narrow`}>
            <JobStrip row={row} />
          </div>
        </>
      ),
    },
    { key: "schedule", title: "Schedule", isWide: true, render: (row) => <ScheduleCell row={row} /> },
    {
      key: "strip",
      title: "Last 30 ticks and the next 5",
      isWide: true,
      width: "300px",
      render: (row) => <JobStrip row={row} active={place?.id === row.id ? place.tick : null} onOpen={openTick} />,
    },
    { key: "next", title: "Next", align: "right", width: "92px", render: (row) => <NextCell row={row} /> },
    { key: "moment", title: "", isWide: true, width: "84px", render: (row) => <NextMoment row={row} /> },
    { key: "last", title: "Last run", width: "var(--last-width)", render: (row) => <LastCell row={row} /> },
    {
      key: "usual",
      title: "Usual",
      align: "right",
      isWide: true,
      width: "58px",
      render: (row) => <span className="muted">{roughly(row.usual_duration)}</span>,
    },
    {
      key: "tags",
      title: "Tags",
      align: "right",
      isWide: true,
      width: "112px",
      render: (row) => (
        <div className={classes.end} data-open={running === row.id || undefined}>
          <span className={classes.tags}>
            <Tags tags={row.tags} letters={11} />
          </span>
          <span className={classes.actions}>
            <RowActions
              row={row}
              actions={actions}
              isRunOpen={running === row.id}
              onRunOpen={(isOpen) => setRunning(isOpen ? row.id : null)}
            />
          </span>
        </div>
      ),
    },
  ];
  return (
    <div className={classes.area}>
      <div className={classes.list}>
        <Table<JobRow>
          label="Jobs"
          columns={columns}
          rows={list.items}
          rowKey={(row) => row.id}
          list={list}
          onOpen={open}
          {...(may("operate") && !isPhone ? { selected, onSelect } : {})}
          onCurrent={(row) => setPlace(row ? { id: row.id, tick: null } : null)}
          keys={{
            tickLeft: move(-1),
            tickRight: move(1),
            ...(may("operate")
              ? {
                  runNow: (row) => setRunning(row.id),
                  pause: (row) => (row.paused || row.stopped_at ? actions.resume : actions.pause).mutate(row.id),
                }
              : {}),
            ...(may("edit")
              ? { edit: (row) => void navigate({ to: "/jobs/$jobId/edit", params: { jobId: row.id } }) }
              : {}),
          }}
          empty={<NoJobs search={search} onClear={() => onChange(NO_FILTER)} />}
        />
      </div>
    </div>
  );
}

/** Return where a row leads. */
function pageOf(row: JobRow) {
  if (row.kind === "workflow") return { to: "/workflows/$workflowId", params: { workflowId: row.id } } as const;
  if (row.kind === "chain") return { to: "/chain-classes/$classId", params: { classId: row.id } } as const;
  return { to: "/jobs/$jobId", params: { jobId: row.id } } as const;
}

function slotOf(row: JobRow, place: number): Slot | undefined {
  const slots = settledSlots(row.strip.ticks);
  return slots[place - (SETTLED - slots.length)];
}

/** Return the place left or right of one; the first step goes to the newest settled tick. */
export function moved(row: Pick<JobRow, "strip" | "paused">, place: number | null, by: number): number | null {
  const first = SETTLED - settledSlots(row.strip.ticks).length;
  const last = SETTLED - 1 + (row.paused ? 0 : Math.min(PLANNED, row.strip.next.length));
  if (last < first) return null;
  return place === null ? Math.min(SETTLED - 1, last) : Math.max(first, Math.min(last, place + by));
}
