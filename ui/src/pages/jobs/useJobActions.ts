import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { Resource } from "@/api/queries";

const CHANGED: readonly Resource[] = ["overview", "jobs", "schedules", "runs", "status"];

/** What can be done with a job from any page. */
export function useJobActions() {
  const run = useAction({
    send: ({ id, payload }: { id: string; payload?: unknown }) =>
      api.post("/api/jobs/{job_id}/run", {
        path: { job_id: id },
        body: payload === undefined ? {} : { payload },
      }),
    changes: CHANGED,
    done: (_, { id }) => `${id} was started`,
  });
  const pause = useAction({
    send: (id: string) => api.post("/api/jobs/{job_id}/pause", { path: { job_id: id } }),
    changes: CHANGED,
    done: (_, id) => `${id} is paused`,
  });
  const resume = useAction({
    send: (id: string) => api.post("/api/jobs/{job_id}/resume", { path: { job_id: id } }),
    changes: CHANGED,
    done: (_, id) => `${id} fires again`,
  });
  const remove = useAction({
    send: (id: string) => api.delete("/api/jobs/{job_id}", { path: { job_id: id } }),
    changes: CHANGED,
    done: (_, id) => `${id} was deleted`,
  });
  const retry = useAction({
    send: (runId: string) => api.post("/api/runs/{run_id}/retry", { path: { run_id: runId }, body: {} }),
    changes: CHANGED,
    done: (answer) => `${answer.job_id} was started again`,
  });
  const mark = useAction({
    send: (runId: string) => api.post("/api/runs/{run_id}/mark", { path: { run_id: runId } }),
    changes: CHANGED,
    done: () => "The run counts as a success",
  });
  return { run, pause, resume, remove, retry, mark };
}

export type JobActions = ReturnType<typeof useJobActions>;
