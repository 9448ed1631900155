import { Link, useNavigate } from "@tanstack/react-router";
import { runs } from "@/api/queries";
import type { RunView, WorkflowPage } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { EmptyState } from "@/parts/EmptyState";
import { Section } from "@/parts/Section";
import { type Column, Table } from "@/parts/Table";
import { Duration, MomentText } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { entryOf } from "@/status/table";
import classes from "./workflow.module.css";

const PAGE = 10;

/** The executions of the workflow, newest first, with their durations side by side. */
export function Executions({ page }: { page: WorkflowPage }) {
  const navigate = useNavigate({ from: "/workflows/$workflowId" });
  const list = useList(runs.list({ job_id: page.id, kind: "execution", limit: PAGE }));
  const longest = Math.max(1, ...list.items.map((run) => secondsOf(run)));
  const open = (run: RunView) =>
    void navigate({
      search: (old) => ({
        ...old,
        execution: run.id,
        version: undefined,
        step: undefined,
        item: undefined,
        status: undefined,
        unfold: undefined,
      }),
    });
  const columns: readonly Column<RunView>[] = [
    {
      key: "at",
      title: "Planned or started",
      width: "140px",
      render: (run) => (
        <Link
          from="/workflows/$workflowId"
          to="/workflows/$workflowId"
          params={{ workflowId: page.id }}
          search={(old) => ({
            ...old,
            execution: run.id,
            version: undefined,
            step: undefined,
            item: undefined,
            status: undefined,
            unfold: undefined,
          })}
        >
          <MomentText at={run.scheduled_for ?? run.created_at} />
        </Link>
      ),
    },
    { key: "status", title: "Status", width: "130px", render: (run) => <StatusWord status={run.status} /> },
    {
      key: "duration",
      title: "Duration",
      align: "right",
      width: "96px",
      render: (run) => <Duration seconds={run.duration} since={run.finished_at ? null : run.started_at} />,
    },
    {
      key: "bar",
      title: <span className="sr">Compared</span>,
      isWide: true,
      render: (run) => (
        <div className={classes.bar} aria-hidden="true">
          <i data-hue={entryOf(run.status).hue} style={{ width: `${(secondsOf(run) / longest) * 100}%` }} />
        </div>
      ),
    },
    {
      key: "trigger",
      title: "Started by",
      width: "110px",
      isWide: true,
      render: (run) => <span className="faint">{run.user_id ?? run.trigger}</span>,
    },
  ];
  return (
    <Section
      title="Executions"
      plain
      more={
        <Link to="/runs" search={{ job: page.id, kind: "execution" }}>
          All runs
        </Link>
      }
    >
      <Table
        label="Executions"
        columns={columns}
        rows={list.items.slice(0, PAGE)}
        rowKey={(run) => run.id}
        onOpen={open}
        openKey={page.execution?.execution.id}
        hasKeys={false}
        empty={<EmptyState title="No executions yet" command={`foliot workflows start ${page.id}`} />}
      />
    </Section>
  );
}

function secondsOf(run: RunView): number {
  if (run.duration !== null) return run.duration;
  return run.started_at && !run.finished_at ? (Date.now() - Date.parse(run.started_at)) / 1_000 : 0;
}
