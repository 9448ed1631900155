/** The zone in which all times are shown: that of the URL (?tz=), else the chosen one, else that of the browser. */
import { useSyncExternalStore } from "react";

const KEY = "foliot.zone";
const listeners = new Set<() => void>();

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export function isZone(name: unknown): name is string {
  if (typeof name !== "string" || name === "") return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

let current = stored() ?? browserZone();

function stored(): string | undefined {
  try {
    const name = localStorage.getItem(KEY);
    return isZone(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Show times in this zone. `keep`: also in later visits. */
export function setZone(name: string, keep: boolean): void {
  if (!isZone(name) || (name === current && !keep)) return;
  current = name;
  try {
    if (keep) localStorage.setItem(KEY, name);
  } catch {
    // Storage is blocked: the zone stays until the page is closed.
  }
  for (const listener of listeners) listener();
}

export const zone = (): string => current;

export function useZone(): string {
  return useSyncExternalStore(subscribe, zone);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** All zones that the browser knows, UTC first. */
export function zones(): string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];
}
