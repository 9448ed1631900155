import type { Resource } from "@/api/queries";
import type { EventKind } from "@/api/types.gen";

const RUNS: readonly Resource[] = ["runs", "overview", "status", "jobs", "ticks", "executions", "workflows", "chains"];
const SCHEDULES: readonly Resource[] = ["schedules", "jobs", "workflows", "overview", "status", "audit"];

/** What each kind of event makes old. */
export const RESOURCES: Record<EventKind, readonly Resource[]> = {
  "runs.created": RUNS,
  "runs.started": [...RUNS, "workers"],
  "runs.ended": [...RUNS, "chain-classes", "workers"],
  "runs.cancel_requested": RUNS,
  "ticks.settled": ["ticks", "schedules", "overview", "status", "jobs"],
  "job.changed": [...SCHEDULES, "runs"],
  "job.deleted": SCHEDULES,
  "job.renamed": [...SCHEDULES, "runs"],
  "schedule.changed": SCHEDULES,
  "schedule.paused": SCHEDULES,
  "schedule.resumed": SCHEDULES,
  "schedule.deleted": SCHEDULES,
  "project.paused": SCHEDULES,
  "project.resumed": SCHEDULES,
  "workflow.changed": SCHEDULES,
  "workflow.deleted": SCHEDULES,
  "executions.opened": ["executions", "workflows", "runs", "overview"],
  "executions.ended": ["executions", "workflows", "runs", "overview"],
  "steps.changed": ["executions", "workflows", "runs"],
  "alert.raised": ["status", "overview", "chain-classes"],
};

export const KINDS = Object.keys(RESOURCES) as EventKind[];
