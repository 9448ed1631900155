import { useSyncExternalStore } from "react";

/** live: events arrive. reconnecting: the server does not answer. paused: this page is hidden. */
export type LiveState = "live" | "reconnecting" | "paused";

let current: LiveState = "reconnecting";
const listeners = new Set<() => void>();

export function setLiveState(state: LiveState): void {
  if (state === current) return;
  current = state;
  for (const listener of listeners) listener();
}

export const liveState = (): LiveState => current;

/** Whether this page is live: `const { state } = useLive()`. */
export function useLive(): { state: LiveState } {
  const state = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, liveState);
  return { state };
}
