import type { RunView, WorkflowPage } from "@/api/types.gen";
import type { NodeState } from "@/graph/types";
import { Note } from "@/parts/Note";
import { entryOf } from "@/status/table";
import { duration } from "@/time/format";
import { useNow } from "@/time/useNow";
import { type Row, TimeChart } from "@/timechart/TimeChart";

const MOST = 200;

interface Props {
  page: WorkflowPage;
  runs: ReadonlyMap<string, RunView>;
  states: ReadonlyMap<string, NodeState> | undefined;
  open: string | undefined;
  onOpen: (step: string) => void;
}

/** When each step waited and ran. */
export function Gantt({ page, runs, states, open, onOpen }: Props) {
  const minute = useNow(60_000);
  const execution = page.execution?.execution;
  if (!execution?.started_at) return null;
  const begin = Date.parse(execution.started_at);
  const end = execution.finished_at ? Date.parse(execution.finished_at) : minute + 60_000;
  const ran = execution.steps.filter((step) => step.run_id && runs.has(step.run_id));
  const rows = ran.slice(0, MOST).map((step): Row => {
    const run = runs.get(step.run_id as string) as RunView;
    const status = states?.get(step.name)?.status ?? run.status;
    const { hue, word } = entryOf(status);
    const start = Date.parse(run.started_at ?? run.due_at);
    const isToCome = run.started_at === null;
    const took = run.duration === null ? "" : duration(run.duration);
    const bar = {
      key: step.name,
      begin: start,
      end: run.finished_at ? Date.parse(run.finished_at) : null,
      hue,
      isToCome,
      since: Date.parse(run.created_at),
      title: `${step.name}, ${word}${took && `, ${took}`}`,
      word: took,
    };
    return { key: step.name, word: step.name, bars: [bar] };
  });
  return (
    <>
      {ran.length > MOST && <Note>Only the first {MOST} steps are shown.</Note>}
      <TimeChart
        label={`Times of the steps of ${page.id}`}
        rows={rows}
        begin={begin}
        end={Math.max(end, begin + 1_000)}
        hasNow={execution.finished_at === null}
        open={open}
        onOpen={onOpen}
        rowHeight={30}
      />
    </>
  );
}
