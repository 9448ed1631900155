/** The calendar of a schedule: a row for each day, a mark for each tick. Pure. */
import type { StripTick } from "@/api/types.gen";
import { MARKS, type Mark, markOf } from "@/status/table";
import { moment } from "@/time/format";

export const DAY = 86_400_000;
/** Above this number of ticks in a day, a mark is an hour: the worst of its ticks, and how many there are. */
export const MOST_MARKS = 96;

export interface Cell {
  mark: Mark;
  /** The planned time; of an hour, that of its worst tick. */
  at: string;
  /** From 0 at midnight to 1. */
  x: number;
  count: number;
}

export interface Row {
  key: string;
  label: string;
  isWeekend: boolean;
  isToday: boolean;
  cells: Cell[];
}

interface Point {
  at: number;
  mark: Mark;
}

const WORST_FIRST: readonly Mark[] = [
  "failed",
  "timeout",
  "launch_failed",
  "missed",
  "partial",
  "late",
  "running",
  "queued",
  "cancelled",
  "skipped",
  "coalesced",
  "ran",
  "planned",
];

/** Return the rows, today first. `next`: planned times that are still to come. */
export function raster(
  ticks: readonly StripTick[],
  next: readonly string[],
  days: number,
  now: number,
  zone: string,
): Row[] {
  const rows = emptyRows(days, now, zone);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const room = MOST_MARKS * days * 4;
  const points = [...ticks.flatMap((tick) => spread(tick, room)), ...next.map((at) => planned(at))];
  for (const point of points) {
    const { key, x } = placeOf(point.at, zone);
    byKey.get(key)?.cells.push({ mark: point.mark, at: new Date(point.at).toISOString(), x, count: 1 });
  }
  for (const row of rows) if (row.cells.length > MOST_MARKS) row.cells = byHour(row.cells);
  return rows;
}

function planned(at: string): Point {
  return { at: Date.parse(at), mark: "planned" };
}

function emptyRows(days: number, now: number, zone: string): Row[] {
  const rows = new Map<string, Row>();
  // Half a day steps: with a change of the clock a day has 23 or 25 hours, and no day is left out.
  for (let at = now; rows.size < days; at -= DAY / 2) {
    const { key } = placeOf(at, zone);
    if (rows.has(key)) continue;
    const { weekday, day } = moment(at, zone);
    const isToday = rows.size === 0;
    rows.set(key, {
      key,
      label: isToday ? "today" : `${weekday} ${day}`,
      isWeekend: weekday === "Sat" || weekday === "Sun",
      isToday,
      cells: [],
    });
  }
  return [...rows.values()];
}

/** Return the day of a moment, and how far the clock on the wall is in it. */
export function placeOf(at: number, zone: string): { key: string; x: number } {
  const { day, year, clock } = moment(at, zone);
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(":").map(Number);
  return { key: `${day} ${year}`, x: (hours * 3_600 + minutes * 60 + seconds) / 86_400 };
}

/** A range of ticks has a mark for each of its times, which lie evenly between its ends. */
function spread(tick: StripTick, room: number): Point[] {
  const [first, last] = [Date.parse(tick.scheduled_for), Date.parse(tick.until)];
  const mark = markOf(tick) === "ran" && tick.is_late ? "late" : markOf(tick);
  if (tick.count <= 1) return [{ at: first, mark }];
  const shown = Math.min(tick.count, room);
  return Array.from({ length: shown }, (_, index) => ({ at: first + ((last - first) / (shown - 1)) * index, mark }));
}

function byHour(cells: readonly Cell[]): Cell[] {
  const hours = new Map<number, Cell>();
  for (const cell of cells) {
    const hour = Math.floor(cell.x * 24);
    const found = hours.get(hour);
    if (!found) hours.set(hour, { ...cell, x: hour / 24 });
    else if (isWorse(cell.mark, found.mark)) hours.set(hour, { ...cell, x: found.x, count: found.count + 1 });
    else found.count += 1;
  }
  return [...hours.values()];
}

const isWorse = (one: Mark, other: Mark): boolean => WORST_FIRST.indexOf(one) < WORST_FIRST.indexOf(other);

/** Return a row in words, for screen readers: "Wed 21 Oct: 46 ran, 2 skipped". */
export function describeRow(row: Row): string {
  const counts = new Map<Mark, number>();
  for (const cell of row.cells) counts.set(cell.mark, (counts.get(cell.mark) ?? 0) + cell.count);
  const parts = [...counts].map(([mark, count]) => `${count} ${MARKS[mark].word}`);
  return `${row.label}: ${parts.join(", ") || "no ticks"}`;
}
