import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useList } from "@/api/useList";
import { rows } from "@/pages/jobs/queries";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { AccountBar } from "./AccountBar";
import { Broken } from "./Broken";
import { Ended } from "./Ended";
import classes from "./home.module.css";
import { Late } from "./Late";
import { Next } from "./Next";
import { Opening } from "./Opening";
import { Rest } from "./Rest";
import { RunningNow } from "./RunningNow";
import { Welcome } from "./Welcome";

const MOST_JOBS = 60;

/** What is broken, what is running, what is next, what is late or missed. */
export function HomePage() {
  useDocumentTitle("Home · Foliot");
  const { data: home, error, isPending, refetch } = useQuery(rows.home());
  const jobs = useList(rows.list({ limit: MOST_JOBS }));
  if (isPending) return <Loading rows={8} />;
  if (!home) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return (
    <>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      <Opening home={home} />
      {home.jobs.total === 0 ? (
        <Welcome />
      ) : (
        <>
          <AccountBar account={home.account} />
          <div className={classes.two}>
            <div>
              <Broken home={home} />
              <RunningNow running={home.running} total={home.status.depth?.running ?? home.running.length} />
              <Late home={home} />
            </div>
            <aside aria-label="Next and ended">
              <Next home={home} jobs={jobs} />
              <Ended runs={home.ended} />
            </aside>
          </div>
          <Rest home={home} jobs={jobs} />
        </>
      )}
    </>
  );
}
