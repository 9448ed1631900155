/** Environment variables and headers as lines of text. Pure. */

/** Return a table of text as lines. */
export function pairLines(table: unknown, sign: string): string {
  if (typeof table !== "object" || table === null) return "";
  return Object.entries(table)
    .map(([name, value]) => `${name}${sign}${value}`)
    .join("\n");
}

/** Return lines as a table of text. Empty lines are left out. */
export function readPairs(text: string, sign: "=" | ":"): Record<string, string> {
  const pairs = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): [string, string] => {
      const at = line.indexOf(sign);
      return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1)];
    });
  return Object.fromEntries(pairs.map(([name, value]) => [name, sign === ":" ? value.trim() : value]));
}

/** Return what is wrong with lines, null if nothing is. */
export function pairProblem(text: string, sign: "=" | ":"): string | null {
  const line = text.split("\n").findIndex((one) => one.trim() !== "" && one.indexOf(sign) < 1);
  if (line < 0) return null;
  return `Line ${line + 1} is not a name, "${sign}" and a value.`;
}
