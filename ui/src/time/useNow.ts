/** The current time for countdowns and ages. All users share one timer, which stops while the page is hidden. */
import { useSyncExternalStore } from "react";

const TICK = 1_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    document.addEventListener("visibilitychange", update);
    update();
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      document.removeEventListener("visibilitychange", update);
      stop();
    }
  };
}

function update(): void {
  stop();
  if (document.hidden) return;
  timer = setInterval(notify, TICK);
  notify();
}

function stop(): void {
  clearInterval(timer);
  timer = undefined;
}

function notify(): void {
  for (const listener of listeners) listener();
}

/** Return the time in milliseconds. The component renders again when `step` milliseconds have passed. */
export function useNow(step: number = TICK): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / step) * step);
}
