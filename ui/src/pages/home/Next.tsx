import { Link } from "@tanstack/react-router";
import type { HomePage, JobRow } from "@/api/types.gen";
import type { List } from "@/api/useList";
import { JobName } from "@/pages/jobs/JobName";
import { Section } from "@/parts/Section";
import { Countdown, MomentText } from "@/parts/times";
import { counted, moment } from "@/time/format";
import { useNow } from "@/time/useNow";
import { useZone } from "@/time/zone";
import { Histogram } from "./Histogram";
import classes from "./home.module.css";
import { type Fire, firstFires } from "./sentence";

const MOST = 10;

interface Props {
  home: HomePage;
  jobs: List<JobRow>;
}

/** What fires next: the hour as bars, then the next fire of each job with its countdown. */
export function Next({ home, jobs }: Props) {
  const now = useNow();
  // With all jobs at hand each has its own next fire; else a job that fires often could hide the others.
  const known = jobs.hasMore ? [] : jobs.items.flatMap((row) => (row.paused ? [] : row.strip.next));
  const kinds = new Map(jobs.items.map((row) => [row.id, row.kind]));
  const coming = firstFires([...home.next, ...known].filter((fire) => Date.parse(fire.at) > now - 1_000));
  const { count, is_complete, minutes } = home.next_hour;
  return (
    <Section title="Next" more={`${is_complete ? "" : "at least "}${counted(count, "fire")} in the next hour`}>
      <Histogram minutes={minutes} at={home.at} />
      {coming.length === 0 && <p className="faint">Nothing is planned.</p>}
      <ul>
        {coming.slice(0, MOST).map((fire, index) => (
          <Coming key={fire.job_id} fire={fire} before={coming[index - 1]} kind={kinds.get(fire.job_id) ?? ""} />
        ))}
      </ul>
      {coming.length > MOST && (
        <Link to="/jobs" className={classes.more}>
          {counted(coming.length - MOST, "job")} later
        </Link>
      )}
    </Section>
  );
}

function Coming({ fire, before, kind }: { fire: Fire; before: Fire | undefined; kind: string }) {
  const zone = useZone();
  const day = dayWords(fire.at, before?.at, zone);
  const { time } = moment(fire.at, zone);
  return (
    <>
      {day && <li className={classes.day}>{day}</li>}
      <li className={classes.coming}>
        <Countdown at={fire.at} />
        <span className="clip">
          <JobName id={fire.job_id} kind={kind} />
        </span>
        <span className={classes.at}>{day === null || before ? time : <MomentText at={fire.at} />}</span>
      </li>
    </>
  );
}

const DAY = 86_400_000;

/** Return the heading of a day, if it begins with this fire. Pure. */
export function dayWords(at: string, before: string | undefined, zone: string, now = Date.now()): string | null {
  const [that, today, tomorrow] = [moment(at, zone), moment(now, zone), moment(now + DAY, zone)];
  const last = before === undefined ? today : moment(before, zone);
  if (that.day === last.day && that.year === last.year) return null;
  const words = `${that.weekday} ${that.day}`;
  return that.day === tomorrow.day && that.year === tomorrow.year ? `Tomorrow, ${words}` : words;
}
