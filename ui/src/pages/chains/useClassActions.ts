import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { Resource } from "@/api/queries";
import { counted } from "@/time/format";

const CHANGED: readonly Resource[] = ["chains", "chain-classes", "runs", "status", "overview"];

/** What can be done with a class of chains. */
export function useClassActions(class_id: string) {
  const reset = useAction({
    send: (reason: string) => api.post("/api/chain-classes/{class_id}/reset", { path: { class_id }, body: { reason } }),
    changes: CHANGED,
    done: () => `The breaker of ${class_id} is closed`,
  });
  const stop = useAction({
    send: () => api.post("/api/chain-classes/{class_id}/stop", { path: { class_id } }),
    changes: CHANGED,
    done: ({ stopped }) => `${class_id} arms no chain. ${counted(stopped, "chain")} stopped.`,
  });
  const resume = useAction({
    send: () => api.post("/api/chain-classes/{class_id}/resume", { path: { class_id } }),
    changes: CHANGED,
    done: () => `${class_id} arms chains again`,
  });
  return { reset, stop, resume };
}
