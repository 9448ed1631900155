import { TextInput } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import { executions, list as listOf } from "@/api/queries";
import type { ExecutionPage, JobRow } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { NextCell, NextMoment, ScheduleCell } from "@/pages/jobs/cells";
import { JobStrip } from "@/pages/jobs/JobStrip";
import { EmptyState } from "@/parts/EmptyState";
import { JobLink } from "@/parts/links";
import { PageTitle } from "@/parts/PageTitle";
import { type Column, Table } from "@/parts/Table";
import { RelativeTime } from "@/parts/times";
import { useKeys } from "@/shell/keys";
import { StatusWord } from "@/status/StatusWord";
import { TickLegend } from "@/ticks/TickLegend";
import { duration } from "@/time/format";
import { OpenExecutions } from "./OpenExecutions";
import classes from "./workflows.module.css";

const EXAMPLE = `[[workflows]]
id = "nightly-etl"
cron = "0 3 * * *"

[[workflows.steps]]
name = "extract"
command = "bin/extract"

[[workflows.steps]]
name = "load"
after = "extract"
command = "bin/load"`;

/** All workflows: their ticks, the last execution, the next fire, and what is open now. */
export function WorkflowsPage() {
  const { search } = useSearch({ from: "/workflows" });
  const navigate = useNavigate({ from: "/workflows" });
  const list = useList(
    listOf("jobs", "/api/job-rows", { query: { kind: "workflow", limit: 100, search: search ?? null } }),
  );
  const open = useList(executions.list({ limit: 50 }));
  const openCounts = useMemo(() => countsOf(open.items), [open.items]);
  const input = useRef<HTMLInputElement>(null);
  useKeys({ search: () => input.current?.focus() });
  const find = (value: string) =>
    void navigate({ search: (old) => ({ ...old, search: value.trim() || undefined }), replace: true });
  return (
    <>
      <PageTitle
        title="Workflows"
        note={list.isLoading ? undefined : `${list.items.length}${list.hasMore ? "+" : ""}`}
      />
      <OpenExecutions items={open.items} />
      <div className={classes.filter}>
        <TextInput
          ref={input}
          key={search}
          aria-label="Filter workflows"
          placeholder="Part of a name or a tag"
          defaultValue={search}
          onBlur={(event) => event.currentTarget.value !== (search ?? "") && find(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && find(event.currentTarget.value)}
        />
      </div>
      <Table
        label="Workflows"
        columns={columns(openCounts)}
        rows={list.items}
        rowKey={(row) => row.id}
        list={list}
        onOpen={(row) => void navigate({ to: "/workflows/$workflowId", params: { workflowId: row.id } })}
        empty={
          search ? (
            <EmptyState title="No workflow matches">No workflow has “{search}” in its name or its tags.</EmptyState>
          ) : (
            <EmptyState title="No workflows yet" toml={EXAMPLE} command="foliot check foliot.toml">
              A workflow is a graph of steps that run after one another.
            </EmptyState>
          )
        }
      />
      {list.items.length > 0 && (
        <div className={`${classes.foot} wide`}>
          <TickLegend />
        </div>
      )}
    </>
  );
}

function columns(openCounts: ReadonlyMap<string, number>): readonly Column<JobRow>[] {
  return [
    {
      key: "id",
      title: "Workflow",
      render: (row) => (
        <>
          <JobLink id={row.id} isWorkflow />
          <div className="narrow">
            <JobStrip row={row} />
          </div>
        </>
      ),
    },
    { key: "schedule", title: "Schedule", isWide: true, render: (row) => <ScheduleCell row={row} /> },
    {
      key: "strip",
      title: "Last 30 ticks and the next 5",
      isWide: true,
      width: "302px",
      render: (row) => <JobStrip row={row} />,
    },
    { key: "next", title: "Next", align: "right", width: "92px", render: (row) => <NextCell row={row} /> },
    {
      key: "moment",
      title: <span className="sr">At</span>,
      isWide: true,
      width: "86px",
      render: (row) => <NextMoment row={row} />,
    },
    { key: "last", title: "Last execution", width: "190px", render: (row) => <Last row={row} /> },
    {
      key: "open",
      title: "Open",
      align: "right",
      isWide: true,
      width: "64px",
      render: (row) => openCounts.get(row.id) ?? <span className="faint">0</span>,
    },
    {
      key: "usual",
      title: "Usual",
      align: "right",
      isWide: true,
      width: "96px",
      render: (row) => <span className="muted">{duration(row.usual_duration)}</span>,
    },
  ];
}

function Last({ row }: { row: JobRow }) {
  const run = row.latest_run;
  if (!run) return <span className="faint">has not run</span>;
  return (
    <span className={classes.last}>
      <Link to="/workflows/$workflowId" params={{ workflowId: row.id }} search={{ execution: run.id }}>
        <StatusWord status={run.status} />
      </Link>
      <span className="faint wide">
        <RelativeTime at={run.finished_at ?? run.started_at ?? run.created_at} />
      </span>
    </span>
  );
}

function countsOf(open: readonly ExecutionPage[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { execution } of open) counts.set(execution.workflow_id, (counts.get(execution.workflow_id) ?? 0) + 1);
  return counts;
}
