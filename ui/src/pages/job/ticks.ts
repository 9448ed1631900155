import { MARKS, type Mark } from "@/status/table";
import type { Slot } from "@/ticks/slots";

/** Return what became of the newest ticks: "30 ticks: 27 ran, 2 skipped, 1 missed". Pure. */
export function tickWords(slots: readonly Slot[]): string {
  if (slots.length === 0) return "none yet";
  const counts = new Map<Mark, number>();
  for (const { mark } of slots) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  const parts = [...counts].sort((a, b) => b[1] - a[1]);
  const [only] = parts;
  if (only && parts.length === 1) return `the last ${slots.length}: all ${wordOf(only[0])}`;
  return `the last ${slots.length}: ${parts.map(([mark, count]) => `${count} ${wordOf(mark)}`).join(", ")}`;
}

/** "ran, failed" beside a count of those that ran reads as two: "failed" is enough. */
const wordOf = (mark: Mark): string => MARKS[mark].word.replace("ran, ", "");
