/** The parts of a cron expression as they are written, without their meaning: only the server reads expressions. Pure. */

export interface Part {
  from: number;
  to: number;
  /** "minute"; null if the number of parts is not that of an expression. */
  name: string | null;
}

const FIVE = ["minute", "hour", "day of month", "month", "day of week"];
const NAMES: Record<number, readonly string[]> = {
  5: FIVE,
  6: ["second", ...FIVE],
  7: ["second", ...FIVE, "year"],
};

/** What may be written in a part. */
export const MAY_BE: Record<string, string> = {
  second: "0-59",
  minute: "0-59",
  hour: "0-23",
  "day of month": "1-31, L is the last day, 15W the working day nearest to the 15th",
  month: "1-12 or JAN-DEC",
  "day of week": "0-7 or SUN-SAT, FRI#2 is the second Friday, FRIL the last",
  year: "such as 2027",
};

/** Return the parts that blanks separate. A macro such as @daily has no names. */
export function partsOf(expression: string): Part[] {
  const found = [...expression.matchAll(/\S+/g)];
  const names = NAMES[found.length];
  return found.map((match, index) => ({
    from: match.index,
    to: match.index + match[0].length,
    name: names?.[index] ?? null,
  }));
}

/** Return the index of the part that the cursor is in or behind, -1 if there is none. */
export function partAt(parts: readonly Part[], cursor: number): number {
  return parts.findIndex(({ from, to }) => from <= cursor && cursor <= to);
}

/** Return where the word with an error ends: it begins at a position that the server names. */
export function wordEnd(expression: string, position: number): number {
  const word = /^[^\s,/#-]+/.exec(expression.slice(position))?.[0] ?? "";
  return position + Math.max(1, word.length);
}

export const PRESETS = [
  { words: "every 5 minutes", cron: "*/5 * * * *" },
  { words: "hourly", cron: "H * * * *" },
  { words: "daily at 02:30", cron: "30 2 * * *" },
  { words: "weekdays at 9:00", cron: "0 9 * * MON-FRI" },
  { words: "Sundays", cron: "0 4 * * SUN" },
  { words: "first of the month", cron: "0 6 1 * *" },
  { words: "last day of the month", cron: "0 18 L * *" },
] as const;
