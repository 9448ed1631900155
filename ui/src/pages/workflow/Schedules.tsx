import { useQuery } from "@tanstack/react-query";
import { one, schedules } from "@/api/queries";
import type { ScheduleView, WorkflowPage } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { JobStrip } from "@/pages/jobs/JobStrip";
import { expressionOf, scheduleWords } from "@/pages/jobs/words";
import { PauseButton } from "@/pages/schedule/PauseButton";
import { ScheduleLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { Countdown } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { useZone } from "@/time/zone";
import classes from "./workflow.module.css";

const PAGE = 20;

/** When it starts by itself: its schedules and their last ticks. */
export function Schedules({ page }: { page: WorkflowPage }) {
  const list = useList(schedules.list({ job_id: page.id, limit: PAGE }));
  const row = useQuery(one("jobs", "/api/jobs/{job_id}/row", { path: { job_id: page.id } }));
  const hasTicks = row.data && row.data.strip.ticks.length > 0;
  return (
    <Section
      title="Schedules"
      more={
        hasTicks && (
          <span className="wide">
            <JobStrip row={row.data} />
          </span>
        )
      }
    >
      {list.items.length === 0 && !list.isLoading && (
        <p className={classes.line}>
          <span className="muted">It has no schedule: it starts by hand or by the API.</span>
        </p>
      )}
      {list.items.map((schedule) => (
        <Line key={schedule.schedule_id} schedule={schedule} />
      ))}
    </Section>
  );
}

function Line({ schedule }: { schedule: ScheduleView }) {
  const zone = useZone();
  const isPaused = schedule.paused || schedule.all_paused;
  return (
    <div className={classes.line}>
      <ScheduleLink id={schedule.schedule_id} />
      <span className="muted grow">
        {scheduleWords(schedule, zone)}
        <span className="faint">
          {" "}
          <code>{expressionOf(schedule)}</code> {schedule.timezone}
        </span>
      </span>
      {isPaused && <StatusWord status="paused" />}
      {!isPaused && schedule.next_run_at && (
        <span>
          <Countdown at={schedule.next_run_at} withMoment />
        </span>
      )}
      <PauseButton schedule={schedule} />
    </div>
  );
}
