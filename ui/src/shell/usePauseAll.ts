import { api } from "@/api/client";
import { useAction } from "@/api/mutations";

const CHANGED = ["status", "overview", "schedules", "jobs", "workflows"] as const;

/** Pauses and resumes all schedules. */
export function usePauseAll() {
  const pause = useAction({
    send: () => api.post("/api/schedules/pause-all", { body: {} }),
    changes: CHANGED,
    done: () => "All schedules are paused.",
  });
  const resume = useAction({
    send: () => api.post("/api/schedules/resume-all"),
    changes: CHANGED,
    done: () => "Schedules fire again.",
  });
  return { pause, resume };
}
