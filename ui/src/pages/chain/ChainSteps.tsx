import type { ChainDetailView, ChainStepView } from "@/api/types.gen";
import { spent } from "@/pages/chains/outcome";
import { EmptyState } from "@/parts/EmptyState";
import { RunLink } from "@/parts/links";
import { type Column, Table } from "@/parts/Table";
import { Duration, MomentText } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { hasFailed } from "@/status/table";

const COLUMNS: readonly Column<ChainStepView>[] = [
  { key: "step", title: "Step", width: "104px", render: (step) => <RunLink id={step.run_id}>{step.key}</RunLink> },
  { key: "status", title: "Status", width: "120px", render: (step) => <StatusWord status={step.status} /> },
  { key: "at", title: "At", width: "86px", render: (step) => <MomentText at={step.started_at ?? step.due_at} /> },
  { key: "took", title: "Took", align: "right", width: "80px", isWide: true, render: (step) => <Took step={step} /> },
  {
    key: "why",
    title: "Why it ran, and what it decided",
    isWide: true,
    render: (step) => (
      <>
        {step.decision && <b className={hasFailed(step.status as never) ? "bad" : undefined}>{step.decision} </b>}
        <span className="muted">{step.reason ? `${step.reason.replaceAll("_", " ")} ` : ""}</span>
        <span className="faint">because {step.cause}</span>
      </>
    ),
  },
  {
    key: "spent",
    title: "Spent",
    align: "right",
    width: "130px",
    isWide: true,
    render: (step) => <span className="muted">{spent(step) || "–"}</span>,
  },
];

interface Props {
  chain: ChainDetailView;
  open: string | undefined;
  onOpen: (key: string) => void;
}

export function ChainSteps({ chain, open, onOpen }: Props) {
  return (
    <Table
      label="Steps of the chain"
      columns={COLUMNS}
      rows={chain.steps}
      rowKey={(step) => step.key}
      onOpen={(step) => onOpen(step.key)}
      openKey={open}
      empty={<EmptyState title="No steps yet" />}
    />
  );
}

export function Took({ step }: { step: ChainStepView }) {
  if (!step.started_at) return <span className="faint">–</span>;
  return step.finished_at ? (
    <Duration seconds={(Date.parse(step.finished_at) - Date.parse(step.started_at)) / 1_000} />
  ) : (
    <Duration since={step.started_at} />
  );
}
