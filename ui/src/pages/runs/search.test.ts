import { expect, test } from "vitest";
import { runsQuery } from "./query";
import { isFiltered, openedOf, toggledOpen, validateRunsSearch } from "./search";
import { fromTop } from "./steady";

const queryOf = (search: Record<string, unknown>) =>
  (runsQuery(validateRunsSearch(search)).queryKey[2] as { query: Record<string, unknown> }).query;

test("statuses that do not exist are left out", () => {
  expect(validateRunsSearch({ status: "failed,nonsense,skipped" }).status).toBe("failed,skipped");
  expect(validateRunsSearch({ status: "nonsense" }).status).toBeUndefined();
});

test("a time that cannot be read is left out", () => {
  expect(validateRunsSearch({ since: "2026-11-18T12:00:00+01:00" }).since).toBe("2026-11-18T11:00:00.000Z");
  expect(validateRunsSearch({ since: "yesterday" }).since).toBeUndefined();
});

test("the filters of the address are those of the API", () => {
  expect(queryOf({ status: "failed,timeout", job: "backup", q: "01m7", failed: true, open: "A" })).toEqual({
    limit: 50,
    statuses: "failed,timeout",
    job_id: "backup",
    search: "01M7",
    failed: true,
  });
});

test("the runs that are folded out are no filter", () => {
  expect(isFiltered(validateRunsSearch({ open: "A,B" }))).toBe(false);
  expect(isFiltered(validateRunsSearch({ tag: "db" }))).toBe(true);
});

test("folding out and in", () => {
  const one = toggledOpen({ job: "backup" }, "A");
  expect(openedOf(toggledOpen(one, "B"))).toEqual(["A", "B"]);
  expect(toggledOpen(one, "A")).toEqual({ job: "backup", open: undefined });
});

test("new rows are held back above the newest one that is shown", () => {
  const rows = [{ id: "c" }, { id: "b" }, { id: "a" }];
  expect(fromTop(rows, "b")).toEqual([{ id: "b" }, { id: "a" }]);
  expect(fromTop(rows, undefined)).toEqual(rows);
  expect(fromTop(rows, "gone")).toEqual(rows);
});
