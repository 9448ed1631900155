import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import { jobs } from "@/api/queries";
import type { JobView } from "@/api/types.gen";
import { KeyValue } from "@/parts/KeyValue";
import { Loading } from "@/parts/Loading";
import { Section } from "@/parts/Section";
import { type Fact, factsOf } from "./facts";
import classes from "./job.module.css";
import { tomlOf } from "./queries";

/** What the job does and how it is limited, as its file or the API said. */
export function Definition({ jobId, job }: { jobId: string; job: JobView }) {
  const { may } = useMe();
  const { data, isPending } = useQuery(jobs.get(jobId));
  const document = data?.document ?? null;
  const facts = document ? factsOf(document) : [];
  const { data: toml } = useQuery({ ...tomlOf(jobId), enabled: job.source === "file", retry: false });
  return (
    <Section title="Definition" more={<code className="faint">{toml?.place ?? job.source}</code>}>
      <div className={classes.facts}>
        {isPending && <Loading rows={5} />}
        <KeyValue facts={facts.map((fact) => [fact.name, <Value key={fact.name} fact={fact} />] as const)} />
        {data && !document && (
          <p className="muted">It is defined by {job.kind === "workflow" ? "its workflow" : "an application"}.</p>
        )}
        {data?.warnings.map((warning) => (
          <p key={warning} className="look">
            {warning}
          </p>
        ))}
        {job.source === "file" && document && may("edit") && (
          <p className="faint">
            A file owns it: change it there, then <code>foliot reload</code>. To keep a changed copy here,{" "}
            <Link to="/new/job" className={classes.link} search={{ from: jobId }}>
              duplicate it
            </Link>
            .
          </p>
        )}
      </div>
    </Section>
  );
}

function Value({ fact }: { fact: Fact }) {
  if (!fact.isCode) return fact.value;
  return <code className={classes.code}>{fact.value}</code>;
}
