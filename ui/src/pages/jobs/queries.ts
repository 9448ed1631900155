import { list, one } from "@/api/queries";
import type { JobState } from "@/api/types.gen";

export interface JobFilter {
  search?: string | undefined;
  tag?: string | undefined;
  kind?: string | undefined;
  state?: JobState | undefined;
  limit?: number;
}

/**
 * What shows jobs together with their runs and ticks has the resource "overview": an event of any of them reads it
 * again.
 */
export const rows = {
  list: (query: JobFilter = {}) => list("overview", "/api/job-rows", { query }),
  get: (job_id: string) => one("overview", "/api/jobs/{job_id}/row", { path: { job_id } }),
  facets: () => one("overview", "/api/job-rows/facets", {}),
  home: () => one("overview", "/api/home", {}),
};
