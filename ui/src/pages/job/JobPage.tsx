import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { jobs } from "@/api/queries";
import { rows } from "@/pages/jobs/queries";
import { findTick, TickDrawer, tickName } from "@/pages/jobs/TickDrawer";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { CopySection } from "./CopySection";
import { Definition } from "./Definition";
import { Dependencies } from "./Dependencies";
import { Header } from "./Header";
import { History } from "./History";
import classes from "./job.module.css";
import { Revision } from "./Revision";
import { RunsTable } from "./RunsTable";
import { Schedules } from "./Schedules";
import { Ticks } from "./Ticks";

/** Everything about one job: when it fires, what it waits for, how it went, what it is. */
export function JobPage() {
  const { jobId } = useParams({ from: "/jobs/$jobId" });
  const search = useSearch({ from: "/jobs/$jobId" });
  const navigate = useNavigate({ from: "/jobs/$jobId" });
  const page = useQuery(jobs.page(jobId));
  const row = useQuery(rows.get(jobId));
  const error = page.error ?? row.error;
  const reload = () => {
    void page.refetch();
    void row.refetch();
  };
  if (page.isPending || row.isPending) return <Loading rows={8} />;
  if (!page.data || !row.data) return <ErrorNote error={error} onRetry={reload} />;
  const { job, schedules, gate, dependencies } = page.data;
  const setTick = (tick: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, tick }), replace: true, resetScroll: false });
  const found = search.tick === undefined ? null : findTick([row.data], search.tick);
  return (
    <>
      {error && <ErrorNote error={error} onRetry={reload} />}
      <Header job={job} row={row.data} />
      <div className={classes.two}>
        <div>
          <Schedules schedules={schedules} jobId={jobId} />
          {gate && <Dependencies gate={gate} dependencies={dependencies} />}
          <Ticks row={row.data} onOpen={(slot) => setTick(tickName(slot))} />
          <History
            jobId={jobId}
            count={search.runs ?? 30}
            onCount={(count) =>
              void navigate({
                search: (old) => ({ ...old, runs: count === 90 ? 90 : undefined }),
                replace: true,
                resetScroll: false,
              })
            }
          />
          <RunsTable jobId={jobId} />
        </div>
        <aside aria-label="Definition">
          <Definition jobId={jobId} job={job} />
          <Revision job={job} />
          <CopySection jobId={jobId} />
        </aside>
      </div>
      {found && <TickDrawer {...found} onChange={setTick} />}
    </>
  );
}
