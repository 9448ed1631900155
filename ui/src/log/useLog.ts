import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { api } from "@/api/client";
import { listen } from "./bell";
import { LogStore } from "./LogStore";

/** The log of a run, which grows while the run runs. */
export function useLog(runId: string): LogStore {
  const store = useMemo(
    () =>
      new LogStore((query, signal) =>
        api.get("/api/runs/{run_id}/log/lines", { path: { run_id: runId }, query, signal }),
      ),
    [runId],
  );
  useSyncExternalStore(store.subscribe, () => store.version);
  const isVisible = useVisible();
  useEffect(() => {
    if (!isVisible) return;
    void store.refresh();
    return () => store.close();
  }, [store, isVisible]);
  const isOpen = store.state === "open";
  useEffect(() => {
    if (!isOpen || !isVisible) return;
    const refresh = () => void store.refresh();
    return listen(runId, { onGrown: refresh, onEnd: refresh });
  }, [runId, store, isOpen, isVisible]);
  return store;
}

/** A hidden page reads nothing: it would hold one of the few connections of the browser. */
function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const update = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  return isVisible;
}
