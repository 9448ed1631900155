/** Messages at the corner of the page. Their code is loaded with the first one. */
import { useSyncExternalStore } from "react";

interface Notice {
  title?: string;
  message: string;
  isError?: boolean;
}

const listeners = new Set<() => void>();
let isWanted = false;

export async function notify({ title, message, isError = false }: Notice): Promise<void> {
  isWanted = true;
  for (const listener of listeners) listener();
  const { showNotice } = await import("@/shell/noticeStore");
  showNotice({ message, ...(title ? { title } : {}), ...(isError ? { color: "red", autoClose: 10_000 } : {}) });
}

/** Whether there was a message, so that their place is needed. */
export function useHasNotices(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isWanted,
  );
}
