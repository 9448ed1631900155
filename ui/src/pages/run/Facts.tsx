import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { jobs } from "@/api/queries";
import type { RunPage, RunView } from "@/api/types.gen";
import { Code } from "@/parts/Code";
import { CopyButton } from "@/parts/CopyButton";
import { KeyValue } from "@/parts/KeyValue";
import { RunLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { MomentText } from "@/parts/times";
import classes from "./run.module.css";

/** What the run was given, what it returned, and where it belongs. */
export function Facts({ page }: { page: RunPage }) {
  const { run } = page;
  return (
    <>
      <Section title="Parameters">
        <div className={classes.body}>
          {run.input_payload === null ? <p className="faint">None.</p> : <Value value={run.input_payload} />}
        </div>
      </Section>
      {run.output_payload !== null && (
        <Section title="Output">
          <div className={classes.body}>
            <Value value={run.output_payload} />
          </div>
        </Section>
      )}
      <Environment run={run} />
      <Section title="Facts">
        <div className={classes.body}>
          <KeyValue
            facts={[
              ["run", <Id key="id" id={run.id} />],
              ["part of", run.parent_id && <RunLink key="parent" id={run.parent_id} />],
              ["outermost", run.root_id && run.root_id !== run.parent_id && <RunLink key="root" id={run.root_id} />],
              ["chain", page.chain && <ChainLink key="chain" page={page} />],
              ["step", page.step],
              ["item", run.item !== null && <code key="item">{run.item}</code>],
              ["queue", run.queue],
              ["priority", run.priority !== 0 && run.priority],
              ["due", <MomentText key="due" at={run.due_at} full />],
              ["created", <MomentText key="created" at={run.created_at} full />],
              ["worker", run.worker_id && <Id key="worker" id={run.worker_id} />],
              ["exit code", run.exit_code],
              ["lost attempts", run.lost > 0 && run.lost],
              ["started for", run.user_id],
              ["key", run.idempotency_key && <Id key="key" id={run.idempotency_key} />],
              ["executor run", run.executor_run_id],
            ]}
          />
        </div>
      </Section>
      {page.actions.length > 0 && (
        <Section title="Actions">
          <ul className={classes.body}>
            {page.actions.map((action) => (
              <li key={`${action.at}${action.action}`} className="muted">
                <MomentText at={action.at} /> {action.actor}: {action.action}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function ChainLink({ page }: { page: RunPage }) {
  if (!page.chain) return null;
  return (
    <Link to="/chains/$chainId" params={{ chainId: page.chain.id }}>
      {page.chain.id}
    </Link>
  );
}

function Id({ id }: { id: string }) {
  return (
    <span className={classes.id}>
      <span className="mono">{id}</span>
      <CopyButton text={id} />
    </span>
  );
}

/** A value of JSON: an object as facts, if it is small; else as text. */
function Value({ value }: { value: unknown }) {
  const entries = value !== null && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [];
  const isSmall = entries.length > 0 && entries.length <= 12 && entries.every(([, one]) => !isNested(one));
  if (!isSmall) {
    return (
      <div className={classes.value}>
        <Code text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} wrap />
      </div>
    );
  }
  return (
    <KeyValue facts={entries.map(([name, one]) => [name, <code key={name}>{JSON.stringify(one)}</code>] as const)} />
  );
}

const isNested = (value: unknown): boolean => JSON.stringify(value)?.length > 60;

/** The names of the environment that the job sets now. Values may be secret, and are not shown. */
function Environment({ run }: { run: RunView }) {
  const isJob = run.kind === "job" || run.kind === "fanout" || run.kind === "item";
  const { data: job } = useQuery({ ...jobs.get(run.job_id), enabled: isJob, retry: false });
  const given = job?.spec.env;
  const names = given !== null && typeof given === "object" ? Object.keys(given) : [];
  if (names.length === 0) return null;
  return (
    <Section title="Environment" note="names that the job sets now">
      <p className={classes.body}>
        <code>{names.join(", ")}</code>
      </p>
    </Section>
  );
}
