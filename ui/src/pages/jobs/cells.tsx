import { Link } from "@tanstack/react-router";
import type { JobRow } from "@/api/types.gen";
import { Tag } from "@/parts/Chips";
import { RunLink } from "@/parts/links";
import { Countdown, MomentText, RelativeTime } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { useZone } from "@/time/zone";
import classes from "./jobs.module.css";
import { scheduleWords } from "./words";

/** Why a job does not fire, or null. */
export function stateOf(row: Pick<JobRow, "enabled" | "paused" | "stopped_at">): string | null {
  if (!row.enabled) return "disabled";
  if (row.stopped_at) return "stopped after failures";
  return row.paused ? "paused" : null;
}

export function ScheduleCell({ row }: { row: JobRow }) {
  const zone = useZone();
  const [first] = row.schedules;
  if (!first) return <span className="faint">no schedule</span>;
  const words = scheduleWords(first, zone);
  return (
    <span title={`${words} · ${first.timezone}`}>
      {words}
      {row.schedule_count > 1 && <span className="faint"> +{row.schedule_count - 1}</span>}
    </span>
  );
}

export function NextCell({ row }: { row: JobRow }) {
  const state = stateOf(row);
  if (state) return <span className="faint">{state}</span>;
  return <Countdown at={row.next_run_at} />;
}

export function NextMoment({ row }: { row: JobRow }) {
  return stateOf(row) || !row.next_run_at ? null : (
    <span className="faint">
      <MomentText at={row.next_run_at} />
    </span>
  );
}

export function LastCell({ row }: { row: JobRow }) {
  const run = row.latest_run;
  if (!run) return <span className="faint">has not run</span>;
  return (
    <span className={classes.last}>
      <RunLink id={run.id}>
        <StatusWord status={run.status} />
      </RunLink>
      <span className="faint wide">
        <RelativeTime at={run.finished_at ?? run.started_at ?? run.created_at} />
      </span>
    </span>
  );
}

/** Links to the jobs with a tag; the first ones, and how many more there are. */
export function Tags({ tags, letters = Number.POSITIVE_INFINITY }: { tags: readonly string[]; letters?: number }) {
  const most = fitting(tags, letters);
  const more = tags.slice(most);
  return (
    <>
      {tags.slice(0, most).map((tag) => (
        <Link key={tag} to="/jobs" search={{ tag }} title={`Jobs with the tag ${tag}`}>
          <Tag>{tag}</Tag>
        </Link>
      ))}
      {more.length > 0 && (
        <span className="faint" title={more.join(", ")}>
          +{more.length}
        </span>
      )}
    </>
  );
}

/** Return how many of the first tags fit into a line of so many letters; at least one. Pure. */
export function fitting(tags: readonly string[], letters: number): number {
  const AROUND = 2;
  let used = 0;
  const end = tags.findIndex((tag) => {
    used += tag.length + AROUND;
    return used > letters;
  });
  return end < 0 ? tags.length : Math.max(1, end);
}
