import { list, one } from "@/api/queries";

const RECENT = 12;

export const history = (job_id: string, limit: number) =>
  one("runs", "/api/jobs/{job_id}/history", { path: { job_id }, query: { limit } });

export const recentRuns = (job_id: string) =>
  list("runs", "/api/jobs/{job_id}/runs", { path: { job_id }, query: { limit: RECENT } });

export const tomlOf = (job_id: string) => one("jobs", "/api/jobs/{job_id}/toml", { path: { job_id } });

/** The newest entries of the audit, pauses too. Administrators may read them. */
export const newestChange = (id: string) => list("audit", "/api/audit", { query: { id, limit: 50 } });
