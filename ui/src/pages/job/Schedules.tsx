import type { ScheduleView } from "@/api/types.gen";
import { nameOfSchedule, scheduleWords } from "@/pages/jobs/words";
import { Code } from "@/parts/Code";
import { ScheduleLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { Countdown } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { fullMoment, moment } from "@/time/format";
import { useZone } from "@/time/zone";
import { laterWords } from "./fires";
import classes from "./job.module.css";

/** When the job fires, in words, with the next fires in the chosen zone and in its own. */
export function Schedules({ schedules, jobId }: { schedules: readonly ScheduleView[]; jobId: string }) {
  return (
    <Section title="Schedules">
      {schedules.length === 0 ? (
        <div className={classes.empty}>
          <p className="muted">It has no schedule: it runs when it is started by hand, by the API or by another job.</p>
          <Code text={`foliot trigger ${jobId}`} />
        </div>
      ) : (
        <ul>
          {schedules.map((schedule) => (
            <One key={schedule.schedule_id} schedule={schedule} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function One({ schedule }: { schedule: ScheduleView }) {
  const zone = useZone();
  const isOff = !schedule.enabled || schedule.paused || schedule.all_paused;
  return (
    <li className={classes.schedule}>
      <span className={classes.name}>
        <ScheduleLink id={schedule.schedule_id}>{nameOfSchedule(schedule.schedule_id)}</ScheduleLink>
      </span>
      <span className={classes.words}>
        {scheduleWords(schedule, zone)}
        <small>
          {schedule.schedule_type === "cron" && <code>{schedule.schedule_expr} </code>}
          {schedule.timezone}
        </small>
      </span>
      {isOff ? (
        <span className={classes.off}>
          <StatusWord status={schedule.enabled ? "paused" : "disabled"} />
        </span>
      ) : (
        <Fires schedule={schedule} />
      )}
    </li>
  );
}

function Fires({ schedule }: { schedule: ScheduleView }) {
  const zone = useZone();
  const at = schedule.next_run_at;
  if (!at) return <span className={`${classes.off} faint`}>does not fire again</span>;
  const then = laterWords(schedule.preview, zone);
  const own = moment(at, schedule.timezone);
  const seen = moment(at, zone);
  const isElsewhere = own.time !== seen.time || own.day !== seen.day;
  return (
    <>
      <span className={classes.until}>
        <Countdown at={at} />
        <small>until next</small>
      </span>
      <span className={classes.fires} title={schedule.preview.map((one) => fullMoment(one, zone)).join("\n")}>
        {seen.weekday} {seen.day} {seen.time}
        {isElsewhere && (
          <span className="faint">
            {" "}
            ({own.weekday === seen.weekday ? "" : `${own.weekday} `}
            {own.time} there)
          </span>
        )}
        <small>{then && `then ${then}`}</small>
      </span>
    </>
  );
}
