import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createInvalidator } from "./invalidate";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function counted() {
  const client = new QueryClient();
  const asked = vi.spyOn(client, "invalidateQueries").mockResolvedValue();
  return { client, keys: () => asked.mock.calls.map(([filter]) => filter?.queryKey?.[0]) };
}

test("many events at once make a resource old once", () => {
  const { client, keys } = counted();
  const invalidator = createInvalidator(client);
  for (let event = 0; event < 100; event++) invalidator.add(["runs"]);
  vi.advanceTimersByTime(5_000);
  expect(keys()).toEqual(["runs"]);
});

test("a steady stream of events reads at most once a second", () => {
  const { client, keys } = counted();
  const invalidator = createInvalidator(client);
  for (let event = 0; event < 100; event++) {
    invalidator.add(["runs"]);
    vi.advanceTimersByTime(100);
  }
  expect(keys().length).toBeGreaterThan(8);
  expect(keys().length).toBeLessThan(12);
});

test("nothing is read while the page is hidden, and once when it is shown again", () => {
  const { client, keys } = counted();
  const invalidator = createInvalidator(client);
  invalidator.setPaused(true);
  invalidator.add(["runs"]);
  invalidator.add(["jobs"]);
  vi.advanceTimersByTime(60_000);
  expect(keys()).toEqual([]);
  invalidator.setPaused(false);
  vi.advanceTimersByTime(1_000);
  expect(keys()).toEqual(["runs", "jobs"]);
});

test("what is being read is read again afterwards", () => {
  const { client, keys } = counted();
  const fetching = vi.spyOn(client, "isFetching").mockReturnValue(1);
  const invalidator = createInvalidator(client);
  invalidator.add(["runs"]);
  vi.advanceTimersByTime(3_000);
  expect(keys()).toEqual([]);
  fetching.mockReturnValue(0);
  vi.advanceTimersByTime(1_000);
  expect(keys()).toEqual(["runs"]);
});
