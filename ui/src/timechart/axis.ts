/** A time axis: round moments between a begin and an end. Pure. */
import { moment } from "@/time/format";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  30 * DAY,
  90 * DAY,
  365 * DAY,
];

export interface AxisMark {
  at: number;
  word: string;
}

/** Return at most `most` round moments, in a zone. */
export function axisOf(begin: number, end: number, most: number, zone: string): AxisMark[] {
  const span = Math.max(1, end - begin);
  const step = STEPS.find((one) => span / one <= most) ?? (STEPS.at(-1) as number);
  const offset = offsetOf(begin, zone);
  const marks: AxisMark[] = [];
  for (let at = Math.ceil((begin + offset) / step) * step - offset; at <= end; at += step)
    marks.push({ at, word: wordOf(at, step, zone) });
  return marks;
}

function wordOf(at: number, step: number, zone: string): string {
  const { time, clock, day } = moment(at, zone);
  if (step >= DAY) return day;
  if (step < MINUTE) return clock;
  return time === "00:00" ? day : time;
}

/** How far the clock of a zone is ahead of UTC. */
function offsetOf(at: number, zone: string): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)?/.exec(moment(at, zone).offset) ?? [];
  if (!sign) return 0;
  return (sign === "-" ? -1 : 1) * (Number(hours) * HOUR + Number(minutes ?? 0) * MINUTE);
}
