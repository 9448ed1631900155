import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { runs } from "@/api/queries";
import type { RunPage as Page } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { Note } from "@/parts/Note";
import { Section } from "@/parts/Section";
import { Children } from "./Children";
import { childRows, mostTelling } from "./childRows";
import { Facts } from "./Facts";
import { FanoutItems } from "./FanoutItems";
import { Head } from "./Head";
import { RunLog } from "./RunLog";
import classes from "./run.module.css";
import { Timeline } from "./Timeline";
import { Why } from "./Why";

/** Everything about a run: what it did, why, and its log. */
export function RunPage() {
  const { runId } = useParams({ from: "/runs/$runId" });
  const { data: page, error, isPending, refetch } = useQuery(runs.page(runId));
  if (isPending) return <Loading rows={12} />;
  if (!page) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <Head page={page} />
      <div className={classes.page}>
        <div className={classes.main}>
          <ErrorNote error={error} onRetry={() => void refetch()} />
          <Progress page={page} />
          <Failure page={page} />
          <Work key={page.run.id} page={page} />
        </div>
        <div className={classes.side}>
          <Why page={page} />
          <Timeline page={page} />
          <Facts page={page} />
        </div>
      </div>
    </>
  );
}

function Work({ page }: { page: Page }) {
  const { run } = page;
  if (page.fanout) return <FanoutItems page={page} fanout={page.fanout} />;
  if (run.kind === "execution" || run.kind === "chain") return <Parts page={page} />;
  return <RunLog runId={run.id} name={run.item ?? page.step ?? run.job_id} />;
}

/** The steps of an execution or a chain, and the log of one of them. */
function Parts({ page }: { page: Page }) {
  const { child } = useSearch({ from: "/runs/$runId" });
  const navigate = useNavigate({ from: "/runs/$runId" });
  const list = useList(runs.children(page.run.id));
  const rows = childRows(page, list.items);
  const shown = rows.find((row) => row.run?.id === child)?.run ?? mostTelling(rows);
  const row = rows.find((one) => one.run === shown);
  return (
    <>
      <Children
        page={page}
        selected={shown?.id}
        onSelect={(id) =>
          void navigate({ search: (old) => ({ ...old, child: id }), replace: true, resetScroll: false })
        }
      />
      {shown && row && <RunLog runId={shown.id} name={row.name} />}
    </>
  );
}

function Progress({ page }: { page: Page }) {
  const { progress } = page.run;
  if (!progress) return null;
  return (
    <div className={classes.progress}>
      <progress max={1} value={progress.fraction} aria-label="Progress" />
      <span>{Math.round(progress.fraction * 100)} %</span>
      {progress.text && <span className="muted clip">{progress.text}</span>}
    </div>
  );
}

/** The error of a run that failed. It stays beside the log: the log may not say it. */
function Failure({ page }: { page: Page }) {
  const { run } = page;
  // The exit code is said above already.
  if (!run.error_message || run.error_message === `exit code ${run.exit_code}`) return null;
  return (
    <Section title="Error" note={run.exit_code ? `exit code ${run.exit_code}` : undefined} plain>
      <Note hue={run.status === "failed" || run.status === "timeout" ? "bad" : "look"}>
        <div className={classes.error}>{run.error_message}</div>
      </Note>
    </Section>
  );
}
