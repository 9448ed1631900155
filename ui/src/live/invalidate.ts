/** Makes queries old, each resource at most once in a while, however many events arrive. */
import type { QueryClient } from "@tanstack/react-query";
import type { Resource } from "@/api/queries";

const PAUSE = 1_000;

export interface Invalidator {
  /** These resources have changed. */
  add: (resources: readonly Resource[]) => void;
  /** Read nothing while the page is hidden; continue when it is shown. */
  setPaused: (isPaused: boolean) => void;
}

export function createInvalidator(client: QueryClient): Invalidator {
  const waiting = new Set<Resource>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isPaused = false;
  let flushedAt = 0;

  const flush = () => {
    timer = undefined;
    flushedAt = Date.now();
    for (const resource of [...waiting]) {
      const filter = { queryKey: [resource] };
      // What is being read may be from before the event. It is read again afterwards, not cancelled: under a steady
      // stream of events it would never end.
      if (client.isFetching(filter) > 0) continue;
      waiting.delete(resource);
      void client.invalidateQueries(filter);
    }
    schedule();
  };
  const schedule = () => {
    if (timer !== undefined || isPaused || waiting.size === 0) return;
    timer = setTimeout(flush, Math.max(0, flushedAt + PAUSE - Date.now()));
  };

  return {
    add: (resources) => {
      for (const resource of resources) waiting.add(resource);
      schedule();
    },
    setPaused: (paused) => {
      isPaused = paused;
      clearTimeout(timer);
      timer = undefined;
      schedule();
    },
  };
}
