/** The sentence that Home opens with. Pure. */
import type { HomePage } from "@/api/types.gen";
import { joined } from "@/pages/jobs/words";
import { counted } from "@/time/format";

export interface Fire {
  at: string;
  job_id: string;
}

export interface Sentence {
  /** Ends without a full stop if `next` follows it. */
  text: string;
  /** The next fire is a part of the sentence. */
  hasNext: boolean;
}

const DOWN: Record<string, string> = {
  storage_unreachable: "The database does not answer.",
  no_scheduler: "No scheduler is running: nothing fires.",
  no_worker: "No worker is running: runs wait.",
};

/** Return what a person has to know first: what is down, what is paused, what needs a person, or that all is well. */
export function sentenceOf(home: HomePage): Sentence {
  const down = home.status.notices.find((notice) => notice.code in DOWN);
  if (down) return { text: DOWN[down.code] ?? "", hasNext: false };
  if (home.jobs.total === 0) return { text: "No jobs yet.", hasNext: false };
  if (home.status.paused) return { text: "Everything is paused.", hasNext: false };
  const needs = needsOf(home);
  if (needs.length > 0) return { text: `${joined(needs)} ${isOne(home) ? "needs" : "need"} you.`, hasNext: false };
  return { text: "All well.", hasNext: home.next.length > 0 };
}

function needsOf(home: HomePage): string[] {
  const stopped = stoppedJobs(home).length;
  return [
    home.broken_count > 0 && counted(home.broken_count, "job"),
    stopped > 0 && counted(stopped, "stopped job"),
    home.breakers.length > 0 && counted(home.breakers.length, "breaker"),
  ].filter((word): word is string => word !== false);
}

function isOne(home: HomePage): boolean {
  return home.broken_count + home.breakers.length + stoppedJobs(home).length === 1;
}

/** Return the jobs that were stopped after failures and are not among the broken ones. */
export function stoppedJobs(home: HomePage): string[] {
  const notice = home.status.notices.find((one) => one.code === "jobs_stopped");
  if (notice?.code !== "jobs_stopped") return [];
  const broken = new Set(home.broken.map((one) => one.job.id));
  return notice.jobs.filter((id) => !broken.has(id));
}

/** Return how many ticks did not fire or wait too long. */
export function lateCount(home: HomePage): number {
  return home.waiting.length + home.missed.reduce((sum, one) => sum + one.count, 0);
}

/** Return the first fire of each job, soonest first. */
export function firstFires(fires: readonly Fire[]): Fire[] {
  const first = new Map<string, Fire>();
  for (const fire of fires) {
    const known = first.get(fire.job_id);
    if (!known || Date.parse(fire.at) < Date.parse(known.at)) first.set(fire.job_id, fire);
  }
  return [...first.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** Return one entry for each job with how often it occurs, in the order of its first one. */
export function perJob<Run extends { job_id: string }>(runs: readonly Run[]): { run: Run; count: number }[] {
  const found = new Map<string, { run: Run; count: number }>();
  for (const run of runs) {
    const entry = found.get(run.job_id);
    if (entry) entry.count += 1;
    else found.set(run.job_id, { run, count: 1 });
  }
  return [...found.values()];
}
