/**
 * The queries of the API. A key begins with the resource that it shows: live events invalidate by that word
 * (live/invalidate.ts). A list is an infinite query of pages, see useList.
 */
import { type InfiniteData, type QueryKey, queryOptions, type UseInfiniteQueryOptions } from "@tanstack/react-query";
import { type AnswerOf, api, type Parameters, type PathOf, type QueryOf } from "./client";
import type { Page } from "./types.gen";

export type Resource =
  | "audit"
  | "chains"
  | "chain-classes"
  | "cron"
  | "doctor"
  | "dsns"
  | "enrolments"
  | "executions"
  | "jobs"
  | "logs"
  | "me"
  | "overview"
  | "runs"
  | "schedules"
  | "status"
  | "ticks"
  | "tokens"
  | "users"
  | "version"
  | "verify"
  | "workers"
  | "workflows";

/** Options of a query of one answer. */
export function one<P extends PathOf<"GET">>(resource: Resource, path: P, given: Parameters<"GET", P>) {
  return queryOptions({
    queryKey: [resource, path, given] as QueryKey,
    queryFn: ({ signal }): Promise<AnswerOf<"GET", P>> => api.get(path, ...([{ ...given, signal }] as never)),
  });
}

type ListPath = {
  [P in PathOf<"GET">]: AnswerOf<"GET", P> extends Page<unknown> ? P : never;
}[PathOf<"GET">];
type ItemOf<P extends ListPath> = AnswerOf<"GET", P> extends Page<infer Item> ? Item : never;

export type ListQuery<Item> = UseInfiniteQueryOptions<
  Page<Item>,
  Error,
  InfiniteData<Page<Item>, string>,
  QueryKey,
  string
>;

/** Options of a query of a list, page by page. */
export function list<P extends ListPath>(
  resource: Resource,
  path: P,
  given: Parameters<"GET", P>,
): ListQuery<ItemOf<P>> {
  return {
    queryKey: [resource, path, given],
    queryFn: ({ signal, pageParam }) => {
      const query = { ...(given as { query?: object }).query, ...(pageParam ? { cursor: pageParam } : {}) };
      return api.get(path, ...([{ ...given, query, signal }] as never)) as Promise<Page<ItemOf<P>>>;
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.next,
  };
}

type Filter<P extends PathOf<"GET">> = Omit<QueryOf<P>, "cursor">;

export const jobs = {
  list: (query: Filter<"/api/jobs"> = {}) => list("jobs", "/api/jobs", { query }),
  get: (job_id: string) => one("jobs", "/api/jobs/{job_id}", { path: { job_id } }),
  page: (job_id: string) => one("jobs", "/api/jobs/{job_id}/page", { path: { job_id } }),
  runs: (job_id: string) => list("runs", "/api/jobs/{job_id}/runs", { path: { job_id } }),
};

export const schedules = {
  list: (query: Filter<"/api/schedules"> = {}) => list("schedules", "/api/schedules", { query }),
  get: (schedule_id: string) => one("schedules", "/api/schedules/{schedule_id}", { path: { schedule_id } }),
  page: (schedule_id: string) => one("schedules", "/api/schedules/{schedule_id}/page", { path: { schedule_id } }),
  runs: (schedule_id: string) => list("runs", "/api/schedules/{schedule_id}/runs", { path: { schedule_id } }),
  ledger: (schedule_id: string, query: QueryOf<"/api/schedules/{schedule_id}/ledger">) =>
    one("ticks", "/api/schedules/{schedule_id}/ledger", { path: { schedule_id }, query }),
  ticks: (schedule_id: string, query: Filter<"/api/schedules/{schedule_id}/ticks"> = {}) =>
    list("ticks", "/api/schedules/{schedule_id}/ticks", { path: { schedule_id }, query }),
};

export const ticks = {
  list: (query: Filter<"/api/ticks"> = {}) => list("ticks", "/api/ticks", { query }),
  explain: (query: QueryOf<"/api/explain">) => one("ticks", "/api/explain", { query }),
};

export const runs = {
  list: (query: Filter<"/api/runs"> = {}) => list("runs", "/api/runs", { query }),
  get: (run_id: string) => one("runs", "/api/runs/{run_id}", { path: { run_id } }),
  page: (run_id: string) => one("runs", "/api/runs/{run_id}/page", { path: { run_id } }),
  explain: (run_id: string) => one("runs", "/api/runs/{run_id}/explain", { path: { run_id } }),
  attempts: (run_id: string) => list("runs", "/api/runs/{run_id}/attempts", { path: { run_id } }),
  children: (run_id: string) => list("runs", "/api/runs/{run_id}/children", { path: { run_id } }),
  tree: (run_id: string) => list("runs", "/api/runs/{run_id}/tree", { path: { run_id } }),
  results: (run_id: string, query: Filter<"/api/runs/{run_id}/results"> = {}) =>
    list("runs", "/api/runs/{run_id}/results", { path: { run_id }, query }),
};

export const workflows = {
  list: () => list("workflows", "/api/workflows", {}),
  get: (workflow_id: string, query: QueryOf<"/api/workflows/{workflow_id}"> = {}) =>
    one("workflows", "/api/workflows/{workflow_id}", { path: { workflow_id }, query }),
  versions: (workflow_id: string) =>
    list("workflows", "/api/workflows/{workflow_id}/versions", { path: { workflow_id } }),
};

export const executions = {
  list: (query: Filter<"/api/executions"> = {}) => list("executions", "/api/executions", { query }),
  get: (execution_id: string) => one("executions", "/api/executions/{execution_id}", { path: { execution_id } }),
};

export const chains = {
  list: (query: Filter<"/api/chains"> = {}) => list("chains", "/api/chains", { query }),
  get: (chain_id: string) => one("chains", "/api/chains/{chain_id}", { path: { chain_id } }),
  classes: () => list("chain-classes", "/api/chain-classes", {}),
};

export const server = {
  me: () => one("me", "/api/me", {}),
  version: () => one("version", "/api/version", {}),
  status: () => one("status", "/api/status", {}),
  overview: () => one("overview", "/api/overview", {}),
  timeline: (query: QueryOf<"/api/timeline">) => one("overview", "/api/timeline", { query }),
  workers: () => list("workers", "/api/workers", {}),
  doctor: () => one("doctor", "/api/doctor", {}),
  verify: (query: QueryOf<"/api/verify"> = {}) => one("verify", "/api/verify", { query }),
  audit: (query: Filter<"/api/audit"> = {}) => list("audit", "/api/audit", { query }),
  tokens: (query: Filter<"/api/tokens"> = {}) => list("tokens", "/api/tokens", { query }),
  users: () => list("users", "/api/users", {}),
  dsns: () => list("dsns", "/api/dsns", {}),
  enrolments: () => list("enrolments", "/api/enrolments", {}),
};

export const cron = {
  explain: (query: QueryOf<"/api/cron/explain">) => one("cron", "/api/cron/explain", { query }),
};
