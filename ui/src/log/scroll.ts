/**
 * Where a log of any length is scrolled to. The place is a number of lines (`top`: how many are above the view), because
 * a browser has no element of 50 million pixels. The bar is scaled for long logs: small movements move by pixels, large
 * ones (the bar is dragged) by proportion, and afterwards the bar is put where it belongs.
 */

export const ROW = 18;
export const TALLEST = 6_000_000;

export interface Geometry {
  /** Lines of the log. */
  total: number;
  /** Height of the view in pixels. */
  view: number;
  /** Height of a line in pixels; with wrapped lines an average. */
  row: number;
}

/** Return the height of what is scrolled. */
export const heightOf = ({ total, row }: Geometry): number => Math.min(total * row, TALLEST);

/** Return the largest top: the last line is at the bottom of the view. */
export const lastTop = ({ total, view, row }: Geometry): number => Math.max(0, total - view / row);

const range = (geometry: Geometry): number => Math.max(0, heightOf(geometry) - geometry.view);

/** Return where the bar belongs. */
export function barOf(top: number, geometry: Geometry): number {
  const last = lastTop(geometry);
  return last === 0 ? 0 : (Math.min(top, last) / last) * range(geometry);
}

/** Return the top after the bar has moved from `before` to `after`. */
export function moved(top: number, before: number, after: number, geometry: Geometry): number {
  const last = lastTop(geometry);
  const end = range(geometry);
  const isSmall = Math.abs(after - before) < geometry.view * 1.5;
  const isExact = Math.abs(barOf(top, geometry) - before) < 1 && heightOf(geometry) < TALLEST;
  if (isSmall && !(isExact && end > 0)) return clamp(top + (after - before) / geometry.row, last);
  return end === 0 ? 0 : clamp((after / end) * last, last);
}

/** Whether the bar is at its end although the log is not: it must be put right at once. */
export function isStuck(top: number, bar: number, geometry: Geometry): boolean {
  const near = geometry.view * 2;
  const isOff = Math.abs(barOf(top, geometry) - bar) > 1;
  return isOff && (bar < near || bar > range(geometry) - near);
}

export interface Anchor {
  /** A place in the log, in lines. */
  line: number;
  /** The pixel of the view where it is shown. */
  y: number;
}

/**
 * Return the place of the log that has a fixed pixel of the view. At the top it is the first line at pixel 0, at the end
 * the last line at the bottom: so both ends are reached exactly, however tall wrapped lines are.
 */
export function anchorOf(top: number, geometry: Geometry): Anchor {
  const last = lastTop(geometry);
  if (last === 0) return { line: 0, y: 0 };
  const part = Math.min(1, top / last);
  return { line: part * geometry.total, y: part * geometry.view };
}

/** Return the lines (from 1) to render around an anchor. A line may be higher than ROW, never lower. */
export function shownAround(anchor: Anchor, { total, view }: Geometry): { first: number; last: number } {
  const around = Math.ceil(view / ROW) + 6;
  const line = Math.floor(anchor.line) + 1;
  return { first: Math.max(1, line - around), last: Math.min(total, line + around) };
}

/** Return the top that shows a line (from 1) with some lines above it. */
export function topFor(line: number, geometry: Geometry, isWrapped: boolean): number {
  const last = lastTop(geometry);
  // The anchor is always in view, so a line whose neighbours have unknown heights becomes the anchor.
  if (isWrapped) return line <= 3 ? 0 : clamp(((line - 0.5) / geometry.total) * last, last);
  return clamp(line - 1 - geometry.view / geometry.row / 3, last);
}

const clamp = (value: number, last: number): number => Math.max(0, Math.min(value, last));
