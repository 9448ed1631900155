/** The state of a chain, or how it was closed, as an entry of the table of statuses. Pure. */
import type { ChainOutcome, ChainState } from "@/api/types.gen";
import type { Entry, Mark } from "@/status/table";

const entry = (hue: Entry["hue"], glyph: Entry["glyph"], word: string, meaning: string): Entry => ({
  hue,
  glyph,
  word,
  meaning,
});

const STATES: Record<ChainState, Entry> = {
  idle: entry("quiet", "clock", "idle", "its scout has not armed it"),
  armed: entry("run", "running", "armed", "the scout found something; its action has not begun"),
  active: entry("run", "running", "active", "it repairs or verifies"),
  cooling_down: entry("run", "running", "cooling down", "the check was good; it is monitored until it is closed"),
  closed: entry("quiet", "stroke", "closed", "it is closed"),
};
const OUTCOMES: Record<ChainOutcome, Entry> = {
  resolved: entry("ok", "check", "resolved", "it repaired what its scout had found"),
  escalated: entry("bad", "cross", "escalated", "it could not repair it: a person must act"),
  failed: entry("bad", "cross", "failed", "a step of it failed"),
  expired: entry("bad", "hourglass", "expired", "its lifetime ended before it was resolved"),
  stopped: entry("quiet", "stroke", "stopped", "a person or a program stopped it"),
  breaker_open: entry("bad", "contacts-open", "breaker open", "the breaker of its class opened"),
};

interface Chain {
  state: ChainState;
  outcome: ChainOutcome | null;
}

export function chainEntry({ state, outcome }: Chain): Entry {
  return outcome === null ? STATES[state] : OUTCOMES[outcome];
}

export const isOpen = ({ state }: Pick<Chain, "state">): boolean => state !== "closed";

const MARKS: Record<ChainOutcome, Mark> = {
  resolved: "ran",
  escalated: "failed",
  failed: "failed",
  expired: "timeout",
  stopped: "cancelled",
  breaker_open: "failed",
};

/** Return the mark of a chain in the strip of a class. */
export function chainMark({ outcome }: Chain): Mark {
  return outcome === null ? "running" : MARKS[outcome];
}

/** "$1.84", or "$0.004" for small amounts. */
export function money(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
}

/** What a chain or a step has spent: money first, tokens beside it. "" if nothing. */
export function spent({ usd, tokens }: { usd: number; tokens: number }): string {
  const parts = [usd > 0 ? money(usd) : "", tokens > 0 ? `${tokens.toLocaleString("en")} tokens` : ""];
  return parts.filter(Boolean).join(", ");
}
