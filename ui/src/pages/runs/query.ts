import { runs } from "@/api/queries";
import { type RunsSearch, statusesOf } from "./search";

const PAGE = 50;

/** Return the list of the API for the filters of the address. */
export function runsQuery(search: RunsSearch) {
  const statuses = statusesOf(search.status);
  return runs.list({
    limit: PAGE,
    ...(statuses.length > 0 ? { statuses: statuses.join(",") } : {}),
    ...(search.job ? { job_id: search.job } : {}),
    ...(search.schedule ? { schedule_id: search.schedule } : {}),
    ...(search.kind ? { kind: search.kind } : {}),
    ...(search.tag ? { tag: search.tag } : {}),
    ...(search.since ? { since: search.since } : {}),
    ...(search.until ? { until: search.until } : {}),
    ...(search.q ? { search: search.q.toUpperCase() } : {}),
    ...(search.failed ? { failed: true } : {}),
    ...(search.children ? { children: true } : {}),
  });
}
