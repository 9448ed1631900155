import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { WorkerView } from "@/api/types.gen";

const CHANGED = ["workers", "status"] as const;
const named = ({ id }: WorkerView) => ({ path: { name: id } });

/** Orders for workers. A worker follows them with its next heartbeat. */
export function useOrders() {
  const pause = useAction({
    send: (worker: WorkerView) => api.post("/api/workers/{name}/pause", named(worker)),
    changes: CHANGED,
    done: (_, { name }) => `${name} gets no new runs. What it runs continues.`,
  });
  const resume = useAction({
    send: (worker: WorkerView) => api.post("/api/workers/{name}/resume", named(worker)),
    changes: CHANGED,
    done: (_, { name }) => `${name} gets runs again.`,
  });
  const drain = useAction({
    send: (worker: WorkerView) => api.post("/api/workers/{name}/drain", { ...named(worker), body: {} }),
    changes: CHANGED,
    done: (_, { name }) => `${name} finishes its runs and stops.`,
  });
  return { pause, resume, drain };
}
