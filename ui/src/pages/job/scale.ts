/** Axes of the history chart. Pure. */

/** Steps of time that people count in: from milliseconds to days, in seconds. */
const STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600,
  7_200, 14_400, 21_600, 43_200, 86_400,
];
const DAY = 86_400;

/** Return the marks of an axis from 0 to at least `most`, with at most `count` steps. */
export function axisMarks(most: number, count: number): number[] {
  const wanted = Math.max(most, 0.001) / count;
  const step = STEPS.find((one) => one >= wanted) ?? Math.ceil(wanted / DAY) * DAY;
  const steps = Math.max(1, Math.ceil(most / step - 1e-9));
  return Array.from({ length: steps + 1 }, (_, index) => Number((index * step).toFixed(3)));
}

/**
 * Return the value that the axis ends at: the largest one, unless a few runs are far longer than the others. Those
 * are then cut off.
 */
export function topOf(values: readonly number[], p95: number | null): number {
  const most = Math.max(0, ...values);
  if (p95 === null || p95 <= 0 || most <= p95 * 4) return most;
  return p95 * 2;
}
