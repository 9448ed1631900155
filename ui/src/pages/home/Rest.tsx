import { Link } from "@tanstack/react-router";
import type { HomePage, JobRow } from "@/api/types.gen";
import type { List } from "@/api/useList";
import { stateOf } from "@/pages/jobs/cells";
import { JobName } from "@/pages/jobs/JobName";
import { JobStrip } from "@/pages/jobs/JobStrip";
import { Section } from "@/parts/Section";
import { StatusIcon } from "@/status/StatusIcon";
import classes from "./home.module.css";

interface Props {
  home: HomePage;
  jobs: List<JobRow>;
}

/** The jobs that no other part of the page shows, each with its strip. */
export function Rest({ home, jobs }: Props) {
  const shown = new Set([
    ...home.broken.map((one) => one.job.id),
    ...home.running.map((one) => one.run.job_id),
    ...home.waiting.map((one) => one.run.job_id),
    ...home.missed.map((one) => one.job_id),
    ...home.breakers.map((one) => one.id),
  ]);
  const rest = jobs.items.filter((row) => !shown.has(row.id));
  if (rest.length === 0) return null;
  return (
    <Section
      title="Everything else"
      note={`${rest.length}${jobs.hasMore ? "+" : ""}, nothing to do`}
      more={<Link to="/jobs">All {home.jobs.total.toLocaleString("en")} jobs</Link>}
    >
      <ul className={classes.calm}>
        {rest.map((row) => (
          <li key={row.id}>
            <StatusIcon status={statusOf(row)} alone />
            <span className="clip">
              <JobName id={row.id} kind={row.kind} />{" "}
              <span className={classes.kind}>{[row.kind, stateOf(row)].filter(Boolean).join(" · ")}</span>
            </span>
            <span className={classes.strip}>
              <JobStrip row={row} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function statusOf(row: JobRow): string {
  if (stateOf(row)) return "paused";
  return row.latest_run?.status ?? "pending";
}
