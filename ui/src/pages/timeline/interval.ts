/** Which interval the page shows, and what the marks in it say. Pure. */
import type { TimelineBar, TimelinePage, TimelineRow } from "@/api/types.gen";
import { entryOf, type Hue } from "@/status/table";
import { counted, duration, shortMoment } from "@/time/format";
import type { Span } from "./search";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const LENGTHS: Record<Span, number> = { hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR };
/** The interval moves on in steps of so much, so that it is not read again and again. */
const STEPS: Record<Span, number> = { hour: MINUTE, day: 15 * MINUTE, week: 2 * HOUR };

/** Return the interval around a moment: two thirds before it, one third after it. */
export function intervalOf(span: Span, at: number): { since: string; until: string } {
  const length = LENGTHS[span];
  const until = Math.ceil((at + length / 3) / STEPS[span]) * STEPS[span];
  return { since: new Date(until - length).toISOString(), until: new Date(until).toISOString() };
}

/** Return the moment of the page an interval earlier (-1) or later (1). It overlaps the one before by a quarter. */
export function movedBy(span: Span, at: number, by: number): string {
  return new Date(at + by * LENGTHS[span] * 0.75).toISOString();
}

/** "3 runs, failed; Thu 14:05 to 14:07" */
export function barWords(job: string, bar: TimelineBar, zone: string, now: number): string {
  const begin = Date.parse(bar.begin);
  const { word } = entryOf(bar.status);
  const many = bar.count > 1 ? `, ${counted(bar.count, "run")}, the worst` : "";
  const took = bar.end === null ? "" : ` for ${duration((Date.parse(bar.end) - begin) / 1_000)}`;
  return `${job}${many} ${word}, ${shortMoment(begin, zone, now)}${bar.count > 1 ? "" : took}`;
}

/** "254 runs of 12 jobs, 14 bars with failures, 142 fires to come" */
export function pageWords(page: TimelinePage): string {
  const runs = page.rows.reduce((sum, row) => sum + row.bars.reduce((all, bar) => all + bar.count, 0), 0);
  const fires = page.rows.reduce((sum, row) => sum + row.fires.reduce((all, one) => all + one.count, 0), 0);
  const ran = page.rows.filter((row) => row.bars.length > 0).length;
  const most = Math.max(0, ...page.concurrency);
  const parts = [`${counted(runs, "run")} of ${counted(ran, "job")}`, most > 0 && `at most ${most} at once`];
  if (fires > 0) parts.push(`${counted(fires, "fire")} to come`);
  return `${parts.filter(Boolean).join(", ")}.`;
}

/** What a row shows, in words. */
export function rowWords(row: TimelineRow): string {
  const total = row.bars.reduce((sum, bar) => sum + bar.count, 0);
  const bad = row.bars.filter((bar) => entryOf(bar.status).hue === "bad").length;
  const fires = row.fires.reduce((sum, one) => sum + one.count, 0);
  return [
    `${row.job_id}: ${counted(total, "run")}`,
    bad > 0 && `${counted(bad, "mark")} with failures`,
    fires > 0 && `${counted(fires, "fire")} to come`,
  ]
    .filter(Boolean)
    .join(", ");
}

export const hueOf = (bar: TimelineBar): Hue => entryOf(bar.status).hue;
