import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { Cancelled, MarkedRun, RunView } from "@/api/types.gen";

const CHANGES = ["runs", "executions", "chains", "jobs"] as const;

const PHASES: Record<string, string> = {
  queued: "Cancelled. It had not started.",
  local_signalled: "Cancellation requested: its worker, in this server, is ending it now.",
  awaiting_worker: "Cancellation requested: its worker learns of it with its next heartbeat.",
  already_pending: "Cancellation was requested before. Its worker is ending it.",
};

const MARKS: Record<MarkedRun["answer"], string> = {
  marked: "It will not start: it counts as a success now.",
  recorded: "A new run counts as the success in its place.",
  success: "It is a success already. Nothing was changed.",
  running: "It is running. Nothing was changed: cancel it first, or wait.",
  not_found: "There is no such run.",
};

/** Return what the server did about a cancellation. */
export const phaseText = (answer: Cancelled): string => PHASES[answer.phase] ?? `Cancellation: ${answer.phase}`;

/** The changes of a run. `onNew` is told the run that a repetition has created. */
export function useRunActions(onNew?: (run: RunView) => void) {
  const cancel = useAction({
    send: (run_id: string) => api.post("/api/runs/{run_id}/cancel", { path: { run_id } }),
    changes: CHANGES,
    done: phaseText,
  });
  const retry = useAction({
    send: ({ id, failed }: { id: string; failed: boolean }) =>
      api.post("/api/runs/{run_id}/retry", { path: { run_id: id }, body: { failed } }),
    changes: CHANGES,
    done: (run) => `Run ${run.id.slice(-8)} was created`,
    onSuccess: (run) => onNew?.(run),
  });
  const mark = useAction({
    send: (run_id: string) => api.post("/api/runs/{run_id}/mark", { path: { run_id } }),
    changes: CHANGES,
    done: (answer) => MARKS[answer.answer],
  });
  return { cancel, retry, mark };
}
