import { useMe } from "@/access/useMe";
import { runs, server } from "@/api/queries";
import type { RunView, WorkerView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { Tag } from "@/parts/Chips";
import { EmptyState } from "@/parts/EmptyState";
import { RunLink } from "@/parts/links";
import { PageTitle } from "@/parts/PageTitle";
import { Section } from "@/parts/Section";
import { type Column, Table } from "@/parts/Table";
import { RelativeTime } from "@/parts/times";
import { StatusIcon } from "@/status/StatusIcon";
import { counted } from "@/time/format";
import { Enrolments } from "./Enrolments";
import { Orders } from "./Orders";
import { SlotBar } from "./SlotBar";
import { stateOf } from "./state";
import { useOrders } from "./useOrders";
import classes from "./Workers.module.css";

/** Heartbeats are no events, so they are read in an interval. */
const HEARTBEAT = 10_000;
const MOST_RUNS = 200;
const SHOWN_RUNS = 3;

/** The processes that execute runs, and who may connect from other machines. */
export function WorkersPage() {
  const { may } = useMe();
  const orders = useOrders();
  const list = useList({ ...server.workers(), refetchInterval: HEARTBEAT });
  const running = useList(runs.list({ status: "running", children: true, limit: MOST_RUNS }));
  const alive = list.items.filter((worker) => worker.is_alive);
  const used = alive.reduce((sum, worker) => sum + worker.running, 0);
  const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
  const columns: Column<WorkerView>[] = [
    { key: "name", title: "Name", render: (worker) => <Name worker={worker} /> },
    { key: "takes", title: "Queues and labels", width: "160px", render: takes, isWide: true },
    { key: "slots", title: "In use", width: "var(--in-use)", render: (worker) => <SlotBar worker={worker} /> },
    {
      key: "runs",
      title: "Runs",
      width: "180px",
      isWide: true,
      render: (worker) => <Runs runs={running.items.filter((run) => run.worker_id === worker.id)} />,
    },
    { key: "version", title: "Version", width: "80px", isWide: true, render: version },
    { key: "seen", title: "Seen", width: "80px", isWide: true, render: (one) => <RelativeTime at={one.seen_at} /> },
    {
      key: "since",
      title: "Started",
      width: "80px",
      isWide: true,
      render: (one) => <RelativeTime at={one.registered_at} />,
    },
  ];
  if (may("administer")) {
    columns.push({
      key: "orders",
      title: "",
      width: "150px",
      align: "right",
      render: (worker) => <Orders worker={worker} orders={orders} />,
    });
  }
  return (
    <div className={classes.page}>
      <PageTitle
        title="Workers"
        note={list.items.length || undefined}
        sub={alive.length > 0 && `${counted(alive.length, "worker")} alive, ${used} of ${slots} slots in use`}
      />
      <Table
        label="Workers"
        columns={columns}
        rows={list.items}
        rowKey={(worker) => worker.id}
        list={list}
        empty={
          <EmptyState title="No workers" command="foliot worker">
            Runs wait until there is one. <code>foliot serve</code> contains a worker, unless its roles leave it out.
          </EmptyState>
        }
      />
      {may("administer") && (
        <Section title="Remote workers" note="machines without access to the database">
          <Enrolments />
        </Section>
      )}
    </div>
  );
}

function Name({ worker }: { worker: WorkerView }) {
  const { status, word } = stateOf(worker);
  return (
    <span className="row clip">
      <StatusIcon status={status} />
      <span className="clip" title={worker.environment || undefined}>
        {worker.name}
      </span>
      {worker.is_remote && <Tag>remote</Tag>}
      {word && <span className="faint clip wide">{word}</span>}
    </span>
  );
}

function takes({ queues, labels, kinds }: WorkerView) {
  return (
    <span className="row clip" title={kinds.length > 0 ? `only ${kinds.join(", ")}` : undefined}>
      {queues.join(", ")}
      {labels.map((label) => (
        <Tag key={label}>{label}</Tag>
      ))}
    </span>
  );
}

const version = (worker: WorkerView) => worker.version || <span className="faint">–</span>;

function Runs({ runs }: { runs: readonly RunView[] }) {
  return (
    <span className="clip">
      {runs.slice(0, SHOWN_RUNS).map((run, index) => (
        <span key={run.id}>
          {index > 0 && ", "}
          <RunLink id={run.id}>{run.job_id}</RunLink>
        </span>
      ))}
      {runs.length > SHOWN_RUNS && ` and ${runs.length - SHOWN_RUNS} more`}
    </span>
  );
}
