import { Link } from "@tanstack/react-router";
import type { RunBrief } from "@/api/types.gen";
import { RunLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { RelativeTime } from "@/parts/times";
import { StatusIcon } from "@/status/StatusIcon";
import { duration } from "@/time/format";
import classes from "./home.module.css";
import { perJob } from "./sentence";

/** The runs that ended last, one line for each job. */
export function Ended({ runs }: { runs: readonly RunBrief[] }) {
  return (
    <Section title="Just ended" more={<Link to="/runs">All runs</Link>}>
      {runs.length === 0 && <p className="faint">No run has ended yet.</p>}
      <ul>
        {perJob(runs).map(({ run, count }) => (
          <li key={run.id} className={classes.ended}>
            <StatusIcon status={run.status} alone />
            <span className="clip">
              <RunLink id={run.id}>{run.job_id}</RunLink>
              {count > 1 && <span className="faint"> and {count - 1} before</span>}
            </span>
            <span className="muted">{run.status === "skipped" ? "skipped" : duration(run.duration)}</span>
            <span className={classes.at}>
              <RelativeTime at={run.finished_at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
