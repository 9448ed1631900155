import type { RunView, StepView, WorkflowPage, WorkflowStepView } from "@/api/types.gen";
import type { NodeState } from "@/graph/types";
import { EmptyState } from "@/parts/EmptyState";
import { RunLink } from "@/parts/links";
import { type Column, Table } from "@/parts/Table";
import { Duration, MomentText } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { duration } from "@/time/format";
import classes from "./workflow.module.css";

interface Props {
  page: WorkflowPage;
  states: ReadonlyMap<string, NodeState> | undefined;
  runs: ReadonlyMap<string, RunView>;
  open: string | undefined;
  onOpen: (step: string) => void;
}

interface Line {
  step: WorkflowStepView;
  view: StepView | undefined;
  state: NodeState | undefined;
  run: RunView | undefined;
}

const COLUMNS = (onOpen: (step: string) => void): readonly Column<Line>[] => [
  {
    key: "name",
    title: "Step",
    width: "30%",
    render: ({ step }) => (
      <button type="button" className={classes.name} onClick={() => onOpen(step.name)}>
        {step.name}
      </button>
    ),
  },
  {
    key: "status",
    title: "Status",
    width: "158px",
    render: ({ state, step }) =>
      state ? <StatusWord status={state.status} /> : <span className="faint">{step.kind}</span>,
  },
  {
    key: "start",
    title: "Started",
    width: "96px",
    isWide: true,
    render: ({ run }) => <MomentText at={run?.started_at} />,
  },
  {
    key: "duration",
    title: "Duration",
    align: "right",
    width: "92px",
    render: ({ run, state }) => <Duration seconds={run?.duration} since={state?.since} />,
  },
  {
    key: "note",
    title: "What there is to know",
    isWide: true,
    render: (line) => <span className="muted">{noteOf(line) || afterWords(line.step)}</span>,
  },
  {
    key: "run",
    title: "Run and log",
    width: "92px",
    isWide: true,
    render: ({ view }) => (view?.run_id ? <RunLink id={view.run_id} /> : <span className="faint">–</span>),
  },
];

/** The steps as a table: it works for every graph. */
export function Steps({ page, states, runs, open, onOpen }: Props) {
  const views = new Map(page.execution?.execution.steps.map((step) => [step.name, step]));
  const lines = page.steps.map((step): Line => {
    const view = views.get(step.name);
    return { step, view, state: states?.get(step.name), run: view?.run_id ? runs.get(view.run_id) : undefined };
  });
  return (
    <Table
      label="Steps"
      columns={COLUMNS(onOpen)}
      rows={lines}
      rowKey={(line) => line.step.name}
      onOpen={(line) => onOpen(line.step.name)}
      openKey={open}
      empty={<EmptyState title="No steps" />}
    />
  );
}

/** The note of the graph without the duration, which has its own column. */
function noteOf({ state, run }: Line): string {
  const took = run?.duration == null ? "" : duration(run.duration);
  const parts = state?.note?.split(" · ") ?? [];
  return parts.filter((part) => part !== took).join(" · ");
}

/** "after validate, or extract on failure" */
export function afterWords(step: WorkflowStepView): string {
  if (step.is_final) return "final, in any case";
  if (step.after.length === 0) return "at the start";
  const words = step.after.map((edge) => (edge.words === "success" ? edge.step : `${edge.step} (${edge.words})`));
  return `after ${words.join(", ")}`;
}
