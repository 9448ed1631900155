import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { schedules } from "@/api/queries";
import type { ScheduleView } from "@/api/types.gen";
import { TickDrawer } from "@/pages/ledger/TickDrawer";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { JobLink } from "@/parts/links";
import { Note } from "@/parts/Note";
import { PageTitle } from "@/parts/PageTitle";
import { Countdown } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { TickLegend } from "@/ticks/TickLegend";
import { duration } from "@/time/format";
import { useNow } from "@/time/useNow";
import { PauseButton } from "./PauseButton";
import { Raster } from "./Raster";
import { DAY } from "./raster";
import { SPANS } from "./search";
import { Ticks } from "./Ticks";

const HOUR = 3_600_000;

/** The ledger of one schedule: a calendar and a list. */
export function SchedulePage() {
  const { scheduleId } = useParams({ from: "/schedules/$scheduleId" });
  const { days = "21", kind, open } = useSearch({ from: "/schedules/$scheduleId" });
  const navigate = useNavigate({ from: "/schedules/$scheduleId" });
  const hour = Math.floor(useNow(60_000) / HOUR);
  const since = useMemo(() => new Date(hour * HOUR - Number(days) * DAY).toISOString(), [hour, days]);
  const schedule = useQuery(schedules.get(scheduleId));
  const ledger = useQuery(schedules.ledger(scheduleId, { since, limit: 5_000 }));
  const show = (name: string | undefined) => navigate({ search: (old) => ({ ...old, open: name }), replace: true });
  const page = ledger.data;
  const newest = useMemo(() => [...(page?.ticks ?? [])].reverse(), [page]);
  const index = newest.findIndex((tick) => `${scheduleId}@${tick.scheduled_for}` === open);
  // The raster names moments, the list names ticks.
  const showTickAt = (at: string) => {
    const tick = newest.find((one) => Date.parse(one.scheduled_for) === Date.parse(at));
    return show(`${scheduleId}@${tick?.scheduled_for ?? at}`);
  };
  const goTo = (to: number) => {
    const tick = newest[to];
    return index >= 0 && tick ? () => show(`${scheduleId}@${tick.scheduled_for}`) : undefined;
  };
  return (
    <>
      <PageTitle
        title={scheduleId}
        note={(schedule.data?.paused || schedule.data?.all_paused) && <StatusWord status="paused" />}
        sub={schedule.data && <Rule schedule={schedule.data} />}
        actions={
          <>
            {schedule.data && <PauseButton schedule={schedule.data} />}
            <SegmentedControl
              aria-label="Days"
              value={days}
              data={SPANS.map((value) => ({ value, label: `${value} days` }))}
              onChange={(value) => {
                const chosen = SPANS.find((one) => one === value);
                void navigate({ search: (old) => ({ ...old, days: chosen }), replace: true });
              }}
            />
          </>
        }
      />
      <ErrorNote error={schedule.error ?? ledger.error} onRetry={() => void ledger.refetch()} />
      {ledger.isPending && <Loading rows={12} />}
      {page && (
        <>
          {!page.is_complete && <Note>Only the newest {page.ticks.length.toLocaleString("en")} rows are shown.</Note>}
          <Raster page={page} days={Number(days)} open={open?.slice(scheduleId.length + 1)} onOpen={showTickAt} />
          <TickLegend />
          <Ticks page={page} ticks={newest} kind={kind} open={open} onOpen={show} />
        </>
      )}
      {open && (
        <TickDrawer name={open} onClose={() => show(undefined)} onPrevious={goTo(index - 1)} onNext={goTo(index + 1)} />
      )}
    </>
  );
}

function Rule({ schedule }: { schedule: ScheduleView }) {
  const target = schedule.workflow_id ?? schedule.job_id;
  return (
    <>
      {target && <JobLink id={target} isWorkflow={schedule.workflow_id !== null} />}:{" "}
      {schedule.description ?? `${rule(schedule)}, ${schedule.timezone}`}. Overlap: {schedule.overlap_policy}. Catch-up:{" "}
      {schedule.catchup_policy}.
      {schedule.next_run_at && (
        <>
          {" "}
          Next in <Countdown at={schedule.next_run_at} withMoment />
        </>
      )}
    </>
  );
}

function rule(schedule: ScheduleView): string {
  return schedule.schedule_type === "interval"
    ? `every ${duration(Number(schedule.schedule_expr))}`
    : `${schedule.schedule_type} ${schedule.schedule_expr}`;
}
