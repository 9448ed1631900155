import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LogLine, LogLines } from "@/api/types.gen";
import { LogStore } from "./LogStore";
import { MOST_PAGES, PAGE, Pages } from "./pages";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const line = (number: number): LogLine => ({
  number,
  at: "2026-11-18T12:00:00Z",
  attempt: 1,
  stream: "stdout",
  text: `line ${number}`,
  is_cut: false,
});
const lines = (first: number, last: number) =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => line(first + index));

/** A server with a log of so many lines. */
function server(log: { total: number }) {
  return vi.fn(async ({ first, limit }: { first?: number; limit: number }): Promise<LogLines> => {
    const begin = first ?? Math.max(1, log.total - limit + 1);
    const items = lines(begin, Math.min(log.total, begin + limit - 1));
    return { items, total: log.total, is_counted: true, state: "open" };
  });
}

async function opened(total: number) {
  const log = { total };
  const read = server(log);
  const store = new LogStore(read);
  await store.refresh();
  return { log, read, store };
}

test("the end of a log is read with one request", async () => {
  const { store, read } = await opened(3_000_000);
  expect(read).toHaveBeenCalledTimes(1);
  expect(store.total).toBe(3_000_000);
  expect(store.line(3_000_000)?.text).toBe("line 3000000");
});

test("the lines of a view are read by number", async () => {
  const { store } = await opened(3_000_000);
  store.show(1_500_000, 1_500_040);
  await vi.advanceTimersByTimeAsync(500);
  expect(store.line(1_500_000)?.text).toBe("line 1500000");
  expect(store.line(1_500_040)?.text).toBe("line 1500040");
});

test("a log is counted with as many requests as that takes", async () => {
  const answers = [
    { items: lines(1, 2), total: 2, is_counted: false, state: "complete" as const },
    { items: lines(3, 4), total: 4, is_counted: true, state: "complete" as const },
  ];
  const store = new LogStore(async () => answers.shift() as LogLines);
  await store.refresh();
  expect(store.total).toBe(4);
  expect(store.isCounted).toBe(true);
});

test("a last line that was not complete is read again", async () => {
  const { store, log, read } = await opened(500);
  store.show(460, 500);
  await vi.advanceTimersByTimeAsync(200);
  log.total = 1_000;
  await store.refresh(1);
  read.mockClear();
  await vi.advanceTimersByTimeAsync(200);
  expect(store.line(500)?.text).toBe("line 500");
});

test("memory stays the same however far a log is scrolled", () => {
  const pages = new Pages();
  for (let page = 0; page < 500; page++) {
    pages.add(lines(page * PAGE + 1, page * PAGE + PAGE));
    pages.dropFar(page * PAGE + 1, page * PAGE + 40);
  }
  expect(pages.count).toBe(MOST_PAGES);
  expect(pages.line(499 * PAGE + 1)?.number).toBe(499 * PAGE + 1);
  expect(pages.line(1)).toBeUndefined();
});

test("what is missing of a view begins with its pages in view, and ends with the log", () => {
  const pages = new Pages();
  pages.add(lines(201, 250));
  expect(pages.missing(230, 260, 300)).toEqual([
    { first: 251, limit: 50 },
    { first: 1, limit: 200 },
  ]);
});

test("after an error nothing is read until it is repeated", async () => {
  const read = vi.fn(async (): Promise<LogLines> => {
    throw new Error("no answer");
  });
  const store = new LogStore(read);
  await store.refresh();
  store.show(1, 40);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.error?.message).toBe("no answer");
  expect(read).toHaveBeenCalledTimes(1);
});
