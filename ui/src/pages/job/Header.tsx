import { Button } from "@mantine/core";
import { IconPencil, IconPlayerPause, IconPlayerPlay, IconPlayerTrackNext } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useMe } from "@/access/useMe";
import type { JobRow, JobView } from "@/api/types.gen";
import { causeOf } from "@/pages/home/words";
import { Tags } from "@/pages/jobs/cells";
import { JobMenu } from "@/pages/jobs/JobMenu";
import { RunNow } from "@/pages/jobs/RunNow";
import { useJobActions } from "@/pages/jobs/useJobActions";
import { RunLink } from "@/parts/links";
import { Note } from "@/parts/Note";
import { PageTitle } from "@/parts/PageTitle";
import { MomentText, RelativeTime } from "@/parts/times";
import { useKeys } from "@/shell/keys";
import { StatusWord } from "@/status/StatusWord";
import { hasFailed } from "@/status/table";
import classes from "./job.module.css";

interface Props {
  job: JobView;
  row: JobRow;
}

/** The name, what it is, how it went last, and what can be done with it. */
export function Header({ job, row }: Props) {
  return (
    <>
      <PageTitle
        title={job.id}
        note={
          <span className={classes.note}>
            {job.kind}
            <Tags tags={job.tags} />
            {job.paused && <StatusWord status="paused" />}
            {!job.enabled && <StatusWord status="disabled" />}
          </span>
        }
        sub={<Sub job={job} row={row} />}
        actions={<Actions job={job} row={row} />}
      />
      {job.stopped_at && (
        <Note hue="look">
          Stopped after {job.pause_after_failures ?? "several"} failures in a row, <RelativeTime at={job.stopped_at} />.
          It fires again when it is resumed.
        </Note>
      )}
      {row.kind === "workflow" && (
        <Note>
          This is a workflow.{" "}
          <Link to="/workflows/$workflowId" params={{ workflowId: job.id }} className={classes.link}>
            Its page
          </Link>{" "}
          shows its graph and its executions.
        </Note>
      )}
      {row.kind === "chain" && (
        <Note>
          This is a class of chains.{" "}
          <Link to="/chain-classes/$classId" params={{ classId: job.id }} className={classes.link}>
            Its page
          </Link>{" "}
          shows its breaker and its chains.
        </Note>
      )}
    </>
  );
}

/** A name that only writes the id in another way says nothing new. */
const plain = (name: string): string => name.toLowerCase().replace(/[\s_-]+/g, " ");

function Sub({ job, row }: Props) {
  const run = row.latest_run;
  const title = plain(job.name) === plain(job.id) ? "" : job.name;
  return (
    <>
      {title && <b className={classes.human}>{title}. </b>}
      {job.description && `${job.description} `}
      {run ? (
        <>
          Last run:{" "}
          <RunLink id={run.id}>
            <b className={classes.human}>{run.status}</b>
          </RunLink>{" "}
          <MomentText at={run.finished_at ?? run.started_at ?? run.created_at} />
          {(hasFailed(run.status) || run.status === "skipped") && `, ${causeOf(run)}`}.
        </>
      ) : (
        "It has not run yet."
      )}
    </>
  );
}

function Actions({ job, row }: Props) {
  const { may } = useMe();
  const navigate = useNavigate();
  const actions = useJobActions();
  const [isRunning, setRunning] = useState(false);
  const isPaused = job.paused || job.stopped_at !== null;
  const isEditable = may("edit") && job.kind !== "workflow" && job.kind !== "chain";
  const toggle = () => (isPaused ? actions.resume : actions.pause).mutate(job.id);
  const edit = () => void navigate({ to: "/jobs/$jobId/edit", params: { jobId: job.id } });
  useKeys({
    ...(may("operate") ? { runNow: () => setRunning(true), pause: toggle } : {}),
    ...(isEditable ? { edit } : {}),
  });
  return (
    <>
      <JobMenu
        id={job.id}
        kind={job.kind}
        source={job.source}
        scheduleId={row.schedules[0]?.schedule_id}
        withoutEdit
        onDeleted={() => void navigate({ to: "/jobs" })}
      />
      {may("operate") && (
        <Button
          leftSection={isPaused ? <IconPlayerTrackNext size={14} /> : <IconPlayerPause size={14} />}
          onClick={toggle}
        >
          {isPaused ? "Resume" : "Pause"}
        </Button>
      )}
      {isEditable && (
        <Button leftSection={<IconPencil size={14} />} onClick={edit}>
          Edit
        </Button>
      )}
      {may("operate") && (
        <RunNow jobId={job.id} isOpen={isRunning} onChange={setRunning}>
          <Button
            variant="filled"
            leftSection={<IconPlayerPlay size={14} />}
            onClick={() => setRunning(!isRunning)}
            aria-expanded={isRunning}
          >
            Run now
          </Button>
        </RunNow>
      )}
    </>
  );
}
