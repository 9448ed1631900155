import { Button } from "@mantine/core";
import { IconPlayerPlay, IconSquare } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import { chains, one as oneOf, schedules as scheduleQueries } from "@/api/queries";
import type { ClassView, JobRow, ScheduleView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { BreakerWords } from "@/pages/chains/Breaker";
import { ChainTable } from "@/pages/chains/ChainTable";
import { Reset } from "@/pages/chains/Reset";
import { useClassActions } from "@/pages/chains/useClassActions";
import { JobStrip } from "@/pages/jobs/JobStrip";
import { scheduleWords } from "@/pages/jobs/words";
import { PauseButton } from "@/pages/schedule/PauseButton";
import { Code } from "@/parts/Code";
import { Confirm } from "@/parts/Confirm";
import { EmptyState } from "@/parts/EmptyState";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { RunLink, ScheduleLink } from "@/parts/links";
import { Note } from "@/parts/Note";
import { PageTitle } from "@/parts/PageTitle";
import { Section } from "@/parts/Section";
import { MomentText } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { useZone } from "@/time/zone";
import { ClassLimits } from "./ClassLimits";
import classes from "./chain.module.css";

/** A class of chains: its breaker, its limits and its chains. */
export function ChainClassPage() {
  const { classId } = useParams({ from: "/chain-classes/$classId" });
  const all = useList(chains.classes());
  const row = useQuery(oneOf("jobs", "/api/jobs/{job_id}/row", { path: { job_id: classId } }));
  const toml = useQuery({
    ...oneOf("chain-classes", "/api/chain-classes/{class_id}/toml", { path: { class_id: classId } }),
    retry: false,
  });
  const list = useList(chains.list({ class_id: classId, limit: 25 }));
  const found = all.items.find((one) => one.id === classId);
  if (all.error) return <ErrorNote error={all.error} onRetry={all.reload} />;
  if (all.isLoading) return <Loading rows={8} />;
  if (!found) {
    return (
      <EmptyState title={`No class ${classId}`} command="foliot chains">
        There is no class of chains with this id. <Link to="/chains">All classes</Link>
      </EmptyState>
    );
  }
  return (
    <>
      <PageTitle
        title={classId}
        note={<StatusWord status={found.stopped ? "paused" : found.breaker} />}
        sub={
          <>
            {row.data?.description && <div>{row.data.description}</div>}
            <BreakerWords one={found} next={row.data?.next_run_at} />. Stages: {found.stages.join(", ")}.
          </>
        }
        actions={<Actions one={found} />}
      />
      {found.cause && (
        <div className={classes.note}>
          <Cause one={found} />
        </div>
      )}
      <div className={classes.frame}>
        <div className={classes.columns}>
          <div className={classes.main}>
            <Section title="Chains" plain more={<Link to="/chains">All classes</Link>}>
              <ChainTable
                list={list}
                empty={
                  <EmptyState title="No chains yet">
                    Its scout has not found anything. It prints what it sees; exit code 10 arms a chain.
                  </EmptyState>
                }
              />
            </Section>
            <Scouts row={row.data} classId={classId} />
            <Section title="Definition" plain>
              <ErrorNote error={toml.error} />
              {toml.data && <Code text={toml.data.toml.trimEnd()} />}
              {toml.data?.is_masked && <p className="faint">*** stands for a secret that the server keeps.</p>}
            </Section>
          </div>
          <aside className={classes.side}>
            <ClassLimits one={found} />
          </aside>
        </div>
      </div>
    </>
  );
}

/** Why the breaker is open, with the chains that opened it. */
function Cause({ one }: { one: ClassView }) {
  return (
    <Note hue={one.breaker === "open" ? "bad" : "look"}>
      Opened <MomentText at={one.opened_at} />: {one.cause}
      {one.run_ids.length > 0 && (
        <>
          . Chains:{" "}
          {one.run_ids.map((id, index) => (
            <span key={id}>
              {index > 0 && ", "}
              <Link to="/chains/$chainId" params={{ chainId: id }} className="mono">
                {id.slice(-8)}
              </Link>
            </span>
          ))}
          .
        </>
      )}
    </Note>
  );
}

function Actions({ one }: { one: ClassView }) {
  const { may } = useMe();
  const { stop, resume } = useClassActions(one.id);
  if (!may("operate")) return null;
  return (
    <>
      {one.breaker !== "closed" && <Reset classId={one.id} />}
      {one.stopped ? (
        <Button
          variant="filled"
          leftSection={<IconPlayerPlay size={14} />}
          loading={resume.isPending}
          onClick={() => resume.mutate(undefined)}
        >
          Resume class
        </Button>
      ) : (
        <Confirm
          target={(open) => (
            <Button leftSection={<IconSquare size={14} />} loading={stop.isPending} onClick={open}>
              Stop class
            </Button>
          )}
          title={`Stop ${one.id}?`}
          text="All its chains are stopped, and it arms none until it is resumed."
          action="Stop it"
          isDangerous
          onConfirm={() => stop.mutate(undefined)}
        />
      )}
    </>
  );
}

/** The ticks of the scout. */
function Scouts({ row, classId }: { row: JobRow | undefined; classId: string }) {
  const list = useList(scheduleQueries.list({ job_id: classId, limit: 20 }));
  return (
    <Section
      title="Scouts"
      more={
        row && (
          <span className="wide">
            <JobStrip row={row} />
          </span>
        )
      }
    >
      {row?.latest_run && (
        <p className={classes.line}>
          <span className="muted">Latest</span>
          <RunLink id={row.latest_run.id}>
            <StatusWord status={row.latest_run.status} />
          </RunLink>
          <MomentText at={row.latest_run.created_at} />
        </p>
      )}
      {list.items.map((schedule) => (
        <Line key={schedule.schedule_id} schedule={schedule} />
      ))}
    </Section>
  );
}

function Line({ schedule }: { schedule: ScheduleView }) {
  const zone = useZone();
  return (
    <div className={classes.line}>
      <ScheduleLink id={schedule.schedule_id} />
      <span className="muted grow">
        {scheduleWords(schedule, zone)} <span className="faint">{schedule.timezone}</span>
      </span>
      {(schedule.paused || schedule.all_paused) && <StatusWord status="paused" />}
      <PauseButton schedule={schedule} />
    </div>
  );
}
