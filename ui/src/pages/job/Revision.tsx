import { Link } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import type { AuditView, JobView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { Section } from "@/parts/Section";
import { MomentText } from "@/parts/times";
import { type Difference, differences } from "./diff";
import classes from "./job.module.css";
import { newestChange } from "./queries";

/** Since when the definition is as it is, who changed it, and what. */
export function Revision({ job }: { job: JobView }) {
  const { may } = useMe();
  return (
    <Section title={`Revision ${job.revision}`} more={may("administer") && <Link to="/audit">Audit</Link>}>
      <div className={classes.revision}>
        {may("administer") ? (
          <NewestChange job={job} />
        ) : (
          <p>
            Since <MomentText at={job.updated_at} />.
          </p>
        )}
      </div>
    </Section>
  );
}

function NewestChange({ job }: { job: JobView }) {
  const list = useList(newestChange(job.id));
  const change = list.items.find((entry) => entry.kind === "job" && entry.after !== null);
  const changed = change ? differences(change.before, change.after) : [];
  return (
    <>
      <p>
        Since <MomentText at={change?.at ?? job.updated_at} />
        {change && <>, by {actorWords(change)}</>}.{" "}
        {job.revision > 1 && "Earlier runs stay as they were under their revision."}
      </p>
      {change?.before && changed.length > 0 && <Diff changed={changed} />}
    </>
  );
}

function actorWords({ actor, detail }: AuditView): string {
  return detail ? `${actor} (${detail})` : actor;
}

function Diff({ changed }: { changed: readonly Difference[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it
    <pre className={classes.diff} tabIndex={0}>
      {changed.map(({ name, before, after }) => (
        <span key={name}>
          {before !== null && <del>{`- ${name} = ${before}`}</del>}
          {after !== null && <ins>{`+ ${name} = ${after}`}</ins>}
        </span>
      ))}
    </pre>
  );
}
