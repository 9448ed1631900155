import { api } from "@/api/client";
import { plainText } from "./ansi";
import type { LineRange } from "./range";

export const MOST_COPIED = 20_000;

/** Copy lines without numbers, times and colours. Returns how many. */
export async function copyLines(runId: string, range: LineRange): Promise<number> {
  const texts: string[] = [];
  for (let first = range.first; first <= range.last; ) {
    const query = { first, limit: Math.min(1_000, range.last - first + 1) };
    const page = await api.get("/api/runs/{run_id}/log/lines", { path: { run_id: runId }, query });
    if (page.items.length === 0) break;
    for (const line of page.items) texts.push(plainText(line.text));
    first += page.items.length;
  }
  await navigator.clipboard.writeText(texts.join("\n"));
  return texts.length;
}
