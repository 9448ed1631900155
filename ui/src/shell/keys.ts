/**
 * The one table of keys: the handlers and the help read it. A component handles actions with
 * `useKeys({ next: () => ..., open: () => ... })`; the component that was mounted last has precedence.
 */
import { useEffect, useRef } from "react";

export interface Shortcut {
  /** Keys as typed: "j", "Enter", "mod+k" (Ctrl, or Cmd on a Mac), "g h" (one after the other). */
  keys: readonly string[];
  words: string;
  group: "Everywhere" | "Go to" | "Lists" | "Logs and graphs";
}

const key = (group: Shortcut["group"], words: string, ...keys: string[]): Shortcut => ({ group, words, keys });

export const SHORTCUTS = {
  palette: key("Everywhere", "find or do anything", "mod+k"),
  help: key("Everywhere", "show all keys", "?"),
  search: key("Everywhere", "filter this list", "/"),
  close: key("Everywhere", "close the drawer or the popover", "Escape"),
  theme: key("Everywhere", "switch between light and dark", "t"),

  goHome: key("Go to", "home", "g h"),
  goJobs: key("Go to", "jobs", "g j"),
  goRuns: key("Go to", "runs", "g r"),
  goTimeline: key("Go to", "timeline", "g t"),
  goWorkflows: key("Go to", "workflows", "g w"),
  goChains: key("Go to", "chains", "g c"),
  goLedger: key("Go to", "ledger", "g l"),
  goWorkers: key("Go to", "workers", "g k"),
  goImport: key("Go to", "import", "g i"),
  goAudit: key("Go to", "audit", "g a"),
  goDoctor: key("Go to", "doctor", "g d"),
  goSettings: key("Go to", "settings", "g s"),

  next: key("Lists", "next row", "j", "ArrowDown"),
  previous: key("Lists", "previous row", "k", "ArrowUp"),
  open: key("Lists", "open the row", "Enter"),
  select: key("Lists", "select the row", "x"),
  create: key("Lists", "create a new one", "n"),
  tickLeft: key("Lists", "previous tick of the row", "h", "ArrowLeft"),
  tickRight: key("Lists", "next tick of the row", "l", "ArrowRight"),
  runNow: key("Lists", "run now, or run again", "r"),
  pause: key("Lists", "pause or resume", "p"),
  edit: key("Lists", "edit", "e"),
  cancel: key("Lists", "cancel the run", "c"),

  follow: key("Logs and graphs", "follow the log", "f"),
  top: key("Logs and graphs", "go to the top", "g g", "Home"),
  bottom: key("Logs and graphs", "go to the end", "G", "End"),
  firstError: key("Logs and graphs", "go to the first error", "E"),
  nextMatch: key("Logs and graphs", "next match", "]"),
  previousMatch: key("Logs and graphs", "previous match", "["),
  wrap: key("Logs and graphs", "wrap long lines", "w"),
  fit: key("Logs and graphs", "fit the graph into view", "0"),
} satisfies Record<string, Shortcut>;

export type Action = keyof typeof SHORTCUTS;

/** A handler that returns false did nothing: the next one gets the key. */
export type Handlers = Partial<Record<Action, (event: KeyboardEvent) => unknown>>;

const stack: { current: Handlers }[] = [];
const SEQUENCE = 1_000;
let first = "";
let firstAt = 0;

/** Handle keys while this component is mounted. */
export function useKeys(handlers: Handlers): void {
  const ref = useRef(handlers);
  ref.current = handlers;
  useEffect(() => {
    stack.push(ref);
    if (stack.length === 1) document.addEventListener("keydown", onKeyDown);
    return () => {
      stack.splice(stack.indexOf(ref), 1);
      if (stack.length === 0) document.removeEventListener("keydown", onKeyDown);
    };
  }, []);
}

export function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const name = nameOf(event);
  if (isTyping(event.target) && !name.startsWith("mod+") && name !== "Escape") return;
  // Enter and the arrows belong to a focused control.
  if (isControl(event.target) && (name === "Enter" || name === " " || name.startsWith("Arrow"))) return;
  const isSecond = first !== "" && event.timeStamp - firstAt < SEQUENCE;
  const typed = isSecond ? `${first} ${name}` : name;
  first = "";
  if (dispatch(typed, event)) {
    event.preventDefault();
  } else if (!isSecond && startsSequence(name)) {
    first = name;
    firstAt = event.timeStamp;
  }
}

function dispatch(typed: string, event: KeyboardEvent): boolean {
  for (const { current } of [...stack].reverse()) {
    for (const action of Object.keys(current) as Action[]) {
      const keys: readonly string[] = SHORTCUTS[action].keys;
      if (keys.includes(typed) && current[action]?.(event) !== false) return true;
    }
  }
  return false;
}

function nameOf(event: KeyboardEvent): string {
  return event.ctrlKey || event.metaKey ? `mod+${event.key.toLowerCase()}` : event.key;
}

function startsSequence(name: string): boolean {
  return Object.values(SHORTCUTS).some((one) => one.keys.some((keys) => keys.startsWith(`${name} `)));
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}

function isControl(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest("a, button, input, select, [role=menuitem], [role=tab], [role=option], [role=dialog]") !== null
  );
}

/** Return keys as shown to people: "Ctrl K" or "⌘ K". */
export function shownKeys(keys: string): string[] {
  const isMac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.userAgent);
  return keys
    .replace("mod+", isMac ? "⌘ " : "Ctrl ")
    .replace(
      /Arrow(\w+)/,
      (_, way: "Up" | "Down" | "Left" | "Right") => ({ Up: "↑", Down: "↓", Left: "←", Right: "→" })[way],
    )
    .split(" ")
    .map((one) => (one.length === 1 && keys.startsWith("mod+") ? one.toUpperCase() : one));
}
