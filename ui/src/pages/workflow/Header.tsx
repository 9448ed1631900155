import { Button } from "@mantine/core";
import { IconPlayerPlay, IconSquare } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useMe } from "@/access/useMe";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { WorkflowPage } from "@/api/types.gen";
import { Confirm } from "@/parts/Confirm";
import { RunLink } from "@/parts/links";
import { Note } from "@/parts/Note";
import { PageTitle } from "@/parts/PageTitle";
import { Duration, MomentText } from "@/parts/times";
import { useKeys } from "@/shell/keys";
import { StatusWord } from "@/status/StatusWord";
import { FINAL } from "@/status/table";
import { Rerun } from "./Rerun";
import { Start } from "./Start";
import type { WorkflowSearch } from "./search";
import { summaryOf } from "./states";
import classes from "./workflow.module.css";

interface Props {
  page: WorkflowPage;
  search: WorkflowSearch;
}

/** Which execution is shown, how far it is, and what can be done with it. */
export function Header({ page, search }: Props) {
  const execution = page.execution?.execution;
  return (
    <>
      <PageTitle
        title={page.id}
        note={execution ? <StatusWord status={execution.status} /> : `version ${page.version}`}
        sub={<Sub page={page} />}
        actions={<Actions page={page} />}
      />
      <Elsewhere page={page} search={search} />
      {execution?.error && (
        <div className={classes.note}>
          <Note hue="bad">{execution.error}</Note>
        </div>
      )}
    </>
  );
}

function Sub({ page }: { page: WorkflowPage }) {
  const execution = page.execution?.execution;
  if (!page.execution || !execution) return page.description;
  const isOver = execution.finished_at !== null;
  return (
    <>
      {page.description && <div>{page.description}</div>}
      Execution <RunLink id={execution.id} /> of version {execution.version},{" "}
      {execution.scheduled_for ? (
        <>
          planned <MomentText at={execution.scheduled_for} full />
        </>
      ) : (
        <>
          started <MomentText at={execution.started_at} full />
          {execution.user_id && ` by ${execution.user_id}`}
        </>
      )}
      {execution.rerun_of && (
        <>
          , repeats <RunLink id={execution.rerun_of} />
        </>
      )}
      {execution.started_at && (
        <>
          , {isOver ? "took" : "running for"}{" "}
          {isOver ? (
            <Duration seconds={(Date.parse(execution.finished_at ?? "") - Date.parse(execution.started_at)) / 1_000} />
          ) : (
            <Duration since={execution.started_at} />
          )}
        </>
      )}
      . {summaryOf(page.execution)}
      {page.given && <code className={classes.given}>{JSON.stringify(page.given)}</code>}
    </>
  );
}

/** What is shown is not the newest: say so, with the way back. */
function Elsewhere({ page, search }: Props) {
  const newest = page.latest_run;
  const shown = page.execution?.execution.id;
  if (search.version !== undefined || (search.execution && newest && newest.id !== shown)) {
    return (
      <p className={classes.elsewhere}>
        {shown ? "An earlier execution." : `The definition of version ${page.version}.`}{" "}
        <Link
          from="/workflows/$workflowId"
          to="/workflows/$workflowId"
          params={{ workflowId: page.id }}
          search={(old) => ({
            ...old,
            execution: undefined,
            version: undefined,
            step: undefined,
            item: undefined,
            status: undefined,
          })}
          className={classes.link}
        >
          Show the newest
        </Link>
      </p>
    );
  }
  if (!shown && newest) {
    return (
      <p className={classes.elsewhere}>
        Version {page.version} has not run yet.{" "}
        <Link
          to="/workflows/$workflowId"
          params={{ workflowId: page.id }}
          search={{ execution: newest.id }}
          className={classes.link}
        >
          Show the newest execution
        </Link>
        , of an earlier version.
      </p>
    );
  }
  return null;
}

function Actions({ page }: { page: WorkflowPage }) {
  const { may } = useMe();
  const [isStarting, setStarting] = useState(false);
  const execution = page.execution?.execution;
  const isOpen = execution !== undefined && !(FINAL as ReadonlySet<string>).has(execution.status);
  const cancel = useAction({
    send: (id: string) => api.post("/api/runs/{run_id}/cancel", { path: { run_id: id } }),
    changes: ["workflows", "executions", "runs", "overview"],
    done: () => "Cancellation requested",
  });
  useKeys(may("operate") ? { runNow: () => setStarting(true) } : {});
  if (!may("operate")) return null;
  return (
    <>
      {isOpen && (
        <Confirm
          target={(open) => (
            <Button leftSection={<IconSquare size={14} />} onClick={open}>
              Cancel
            </Button>
          )}
          title="Cancel this execution?"
          text="Running steps are ended, steps to come do not start. A final step runs only with final_on_cancel."
          action="Cancel it"
          isDangerous
          onConfirm={() => cancel.mutate(execution.id)}
        />
      )}
      {execution && !isOpen && execution.status !== "success" && (
        <Rerun executionId={execution.id} workflowId={page.id} />
      )}
      <Start page={page} isOpen={isStarting} onChange={setStarting}>
        <Button
          variant="filled"
          leftSection={<IconPlayerPlay size={14} />}
          aria-expanded={isStarting}
          onClick={() => setStarting(!isStarting)}
        >
          Start
        </Button>
      </Start>
    </>
  );
}
