/** Times and durations as text. Pure: the zone and the current time are arguments. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Return seconds as "0.4 s", "52 s", "8 min", "1 h 51 min" or "3 d 14 h". */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.0005) return "0 s";
  if (seconds < 1) return seconds < 0.1 ? `${Math.max(1, Math.round(seconds * 1_000))} ms` : `${trimmed(seconds, 1)} s`;
  if (seconds < 9.95) return `${trimmed(seconds, 1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (seconds < 9.5 * 60) return pair(Math.floor(seconds / 60), "min", Math.floor(seconds % 60), "s");
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return pair(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(seconds / 3_600);
  return pair(Math.floor(hours / 24), "d", hours % 24, "h");
}

/** Return the time until a moment: "1:12" under an hour, then "16 h 36 min", then "3 d 14 h". A passed one is "now". */
export function countdown(until: number, now: number): string {
  const left = until - now;
  if (left <= 0) return "now";
  const seconds = Math.ceil(left / SECOND);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 24 * 60) return pair(Math.floor(minutes / 60), "h", minutes % 60, "min");
  return pair(Math.floor(minutes / 1_440), "d", Math.floor((minutes % 1_440) / 60), "h");
}

/** Return how far a moment is away: "4 min ago", "in 3 d", "now". */
export function relative(at: number, now: number): string {
  const away = Math.abs(at - now);
  if (away < 5 * SECOND) return "now";
  const text = rough(away);
  return at < now ? `${text} ago` : `in ${text}`;
}

function rough(milliseconds: number): string {
  if (milliseconds < MINUTE) return `${Math.floor(milliseconds / SECOND)} s`;
  if (milliseconds < HOUR) return `${Math.floor(milliseconds / MINUTE)} min`;
  if (milliseconds < 2 * DAY) return `${Math.floor(milliseconds / HOUR)} h`;
  return `${Math.floor(milliseconds / DAY)} d`;
}

export interface Moment {
  /** "Thu" */
  weekday: string;
  /** "22 Oct" */
  day: string;
  year: string;
  /** "04:30" */
  time: string;
  /** "04:30:12" */
  clock: string;
  /** "+02:00" */
  offset: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Return the parts of a moment in a zone. */
export function moment(at: string | number | Date, zone: string): Moment {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(new Date(at))
      .map((part) => [part.type, part.value]),
  );
  const get = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? "";
  const time = `${get("hour")}:${get("minute")}`;
  return {
    weekday: get("weekday"),
    day: `${get("day")} ${get("month")}`,
    year: get("year"),
    time,
    clock: `${time}:${get("second")}`,
    offset: get("timeZoneName").replace("GMT", "") || "+00:00",
  };
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let found = formats.get(zone);
  if (!found) {
    found = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      weekday: "short",
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      timeZoneName: "longOffset",
    });
    formats.set(zone, found);
  }
  return found;
}

/** Return a moment as short as it can be understood: "14:25" today, "Fri 07:00" this week, else "12 Oct 07:00". */
export function shortMoment(at: string | number, zone: string, now: number): string {
  const [that, today] = [moment(at, zone), moment(now, zone)];
  if (that.day === today.day && that.year === today.year) return that.time;
  if (Math.abs(new Date(at).getTime() - now) < 6.5 * DAY) return `${that.weekday} ${that.time}`;
  return that.year === today.year ? `${that.day} ${that.time}` : `${that.day} ${that.year}`;
}

/** Return a moment with its offset: "Thu 22 Oct 2026 04:30:00 +02:00". */
export function fullMoment(at: string | number, zone: string): string {
  const { weekday, day, year, clock, offset } = moment(at, zone);
  return `${weekday} ${day} ${year} ${clock} ${offset}`;
}

/** Return a number with its noun: "1 run", "2 runs". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/** Return bytes as "214 MB". */
export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [value, unit] = [count, 0];
  while (value >= 1_000 && unit < units.length - 1) [value, unit] = [value / 1_000, unit + 1];
  return `${unit === 0 || value >= 100 ? Math.round(value) : trimmed(value, 1)} ${units[unit]}`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}
