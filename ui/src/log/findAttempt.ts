import { api } from "@/api/client";

/** Return the first line of an attempt. Attempts follow one another, so it is found by halving. */
export async function findAttempt(runId: string, total: number, attempt: number): Promise<number | undefined> {
  const attemptAt = async (first: number) => {
    const query = { first, limit: 1 };
    const page = await api.get("/api/runs/{run_id}/log/lines", { path: { run_id: runId }, query });
    return page.items[0]?.attempt;
  };
  return firstLine(total, attempt, attemptAt);
}

export async function firstLine(
  total: number,
  attempt: number,
  attemptAt: (line: number) => Promise<number | undefined>,
): Promise<number | undefined> {
  let [low, high] = [1, total];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await attemptAt(middle);
    if (found === undefined) return undefined;
    if (found < attempt) low = middle + 1;
    else high = middle;
  }
  return low === high && (await attemptAt(low)) === attempt ? low : undefined;
}
