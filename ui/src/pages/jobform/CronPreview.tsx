import type { CronExplanation } from "@/api/types.gen";
import { Note } from "@/parts/Note";
import { Countdown } from "@/parts/times";
import { moment } from "@/time/format";
import { useZone } from "@/time/zone";
import classes from "./Cron.module.css";
import type { Explained } from "./useCron";

/** An expression in words, or its error with the fix. */
export function CronWords({ explained }: { explained: Explained | undefined }) {
  const error = explained?.error;
  return (
    <div aria-live="polite">
      <p className={classes.words}>
        {error ? <span className="bad">{error.message}</span> : explained?.found?.description}
      </p>
      {error?.hint && <p className="muted">{error.hint}</p>}
    </div>
  );
}

/** The next times of an expression in its zone and in that of the viewer, and what will surprise. */
export function CronPreview({ found, own }: { found: CronExplanation; own: string }) {
  const viewer = useZone();
  const others = new Map(found.collisions.map((one) => [one.at, one.schedules.filter((id) => !isOf(id, own))]));
  const isOtherZone = viewer !== found.timezone;
  const isCrowded = found.fires.some((fire) => others.get(fire.at)?.length);
  return (
    <>
      {found.warnings.map((warning) => (
        <Note key={warning} hue="look">
          {warning}
        </Note>
      ))}
      {found.fires.length === 0 && !found.expression.startsWith("@") && (
        <Note hue="look">It never fires: no time in the future matches.</Note>
      )}
      {found.next && (
        <>
          <p className="muted">
            Next in <Countdown at={found.next} />
          </p>
          <table className={classes.fires} aria-label="Next times">
            <thead>
              <tr>
                <th scope="col">{found.timezone}</th>
                {isOtherZone && <th scope="col">{viewer}</th>}
                {isCrowded && <th scope="col">At the same time</th>}
              </tr>
            </thead>
            <tbody>
              {found.fires.map((fire) => (
                <tr key={fire.at}>
                  <td className={classes.at}>
                    {stamp(fire.at, found.timezone)} <span className="faint">{fire.zone}</span>
                    {fire.note && <div className="look">{fire.note}</div>}
                  </td>
                  {isOtherZone && <td className={classes.at}>{stamp(fire.at, viewer)}</td>}
                  {isCrowded && <td className="faint">{some(others.get(fire.at) ?? [])}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </>
  );
}

const isOf = (schedule: string, job: string): boolean => job !== "" && schedule.startsWith(`${job}:`);

/** Return at most three names, and how many more there are. */
function some(ids: readonly string[]): string {
  const names = ids.map((id) => id.replace(/:default$/, ""));
  return names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
}

/** Seconds are shown only where there are some, the year only if it is not this one. */
function stamp(at: string, zone: string): string {
  const { weekday, day, year, clock, time } = moment(at, zone);
  const isThisYear = year === moment(Date.now(), zone).year;
  return `${weekday} ${day}${isThisYear ? "" : ` ${year}`} ${clock.endsWith(":00") ? time : clock}`;
}
