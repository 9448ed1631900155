import { useEffect, useState } from "react";
import { api } from "@/api/client";
import { type ApiError, asApiError } from "@/api/error";

/** More matches than this are not listed. */
export const MOST_MATCHES = 5_000;
const AFTER_KEY = 250;

export interface LogSearch {
  /** Numbers of the lines that match, so far. */
  lines: readonly number[];
  isSearching: boolean;
  /** The line up to which it has searched. */
  reached: number;
  /** There are more matches than are listed. */
  isCut: boolean;
  error: ApiError | null;
}

const NOTHING: LogSearch = { lines: [], isSearching: false, reached: 0, isCut: false, error: null };

/** Search the whole log on the server, some megabytes with each request. */
export function useLogSearch(runId: string, text: string): LogSearch {
  const [found, setFound] = useState<LogSearch>(NOTHING);
  useEffect(() => {
    setFound(text === "" ? NOTHING : { ...NOTHING, isSearching: true });
    if (text === "") return;
    const abort = new AbortController();
    const timer = setTimeout(() => void search(runId, text, abort.signal, setFound), AFTER_KEY);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [runId, text]);
  return found;
}

async function search(runId: string, text: string, signal: AbortSignal, tell: (found: LogSearch) => void) {
  let lines: number[] = [];
  let first: number | null = 1;
  try {
    while (first !== null && lines.length < MOST_MATCHES) {
      const query: { text: string; first: number; limit: number } = { text, first, limit: 1_000 };
      const page = await matches(runId, query, signal);
      lines = [...lines, ...page.items.map((line) => line.number)];
      first = page.next;
      if (signal.aborted) return;
      const isSearching = first !== null && lines.length < MOST_MATCHES;
      tell({ lines, isSearching, reached: first ?? 0, isCut: first !== null, error: null });
    }
  } catch (error) {
    if (!signal.aborted)
      tell({ lines, isSearching: false, reached: first ?? 0, isCut: true, error: asApiError(error) });
  }
}

const matches = (run_id: string, query: { text?: string; first: number; limit: number }, signal: AbortSignal) =>
  api.get("/api/runs/{run_id}/log/search", { path: { run_id }, query, signal });

/** Return the first line that looks like an error, or undefined. `tell` is given the line that it has reached. */
export async function findError(
  runId: string,
  signal: AbortSignal,
  tell?: (reached: number) => void,
): Promise<number | undefined> {
  let first: number | null = 1;
  while (first !== null) {
    const page: Awaited<ReturnType<typeof matches>> = await matches(runId, { first, limit: 1 }, signal);
    if (page.items[0]) return page.items[0].number;
    first = page.next;
    if (first !== null && !signal.aborted) tell?.(first);
  }
  return undefined;
}

/** Return the match after or before a line; from the last it goes to the first. */
export function matchBeside(lines: readonly number[], line: number, step: 1 | -1): number | undefined {
  if (step === 1) return lines.find((one) => one > line) ?? lines[0];
  return [...lines].reverse().find((one) => one < line) ?? lines.at(-1);
}
