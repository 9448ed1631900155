/** The one table of statuses: each has a hue, a shape and a word. The hue says whether to act, the shape what it is. */
import type { BreakerState, Status, TickOutcome, TickReason } from "@/api/types.gen";

export type Hue = "ok" | "run" | "look" | "bad" | "quiet";

export type Glyph =
  | "check"
  | "running"
  | "cancelling"
  | "half"
  | "cross"
  | "hourglass"
  | "dotted"
  | "clock"
  | "chevrons"
  | "stroke"
  | "hollow"
  | "foot"
  | "bent"
  | "bare-cross"
  | "contacts-closed"
  | "contacts-half"
  | "contacts-open"
  | "diamond"
  | "bars";

export interface Entry {
  hue: Hue;
  glyph: Glyph;
  word: string;
  meaning: string;
}

const entry = (hue: Hue, glyph: Glyph, word: string, meaning: string): Entry => ({ hue, glyph, word, meaning });

export const STATUSES: Record<Status, Entry> = {
  scheduled: entry("quiet", "clock", "scheduled", "due later, or waiting for its next attempt"),
  queued: entry("quiet", "dotted", "queued", "ready, waiting for a slot or a limit"),
  running: entry("run", "running", "running", "an attempt is running"),
  cancelling: entry("run", "cancelling", "cancelling", "cancellation requested, its worker is ending it"),
  success: entry("ok", "check", "success", "it succeeded"),
  partial: entry("look", "half", "partial", "a tolerated part of its items failed"),
  failed: entry("bad", "cross", "failed", "its last attempt failed"),
  timeout: entry("bad", "hourglass", "timeout", "its last attempt took too long"),
  cancelled: entry("quiet", "stroke", "cancelled", "it was cancelled"),
  skipped: entry("quiet", "chevrons", "skipped", "it was decided not to run it"),
};

/** Further things that have a status: breakers of chains, steps, jobs. */
export const OTHERS = {
  closed: entry("ok", "contacts-closed", "closed", "the breaker lets chains through"),
  half_open: entry("look", "contacts-half", "half-open", "the breaker lets one chain through to try"),
  open: entry("bad", "contacts-open", "open", "the breaker arms no chain until its cooldown is over"),
  waits_for_approval: entry("look", "diamond", "waits for approval", "a person has to approve or reject it"),
  paused: entry("quiet", "bars", "paused", "its planned times are skipped"),
  pending: entry("quiet", "dotted", "pending", "waits for earlier steps"),
} satisfies Record<BreakerState | string, Entry>;

export type StatusName = Status | keyof typeof OTHERS;

/** Return the entry of a status. An unknown one, of a newer server, is shown with its own word. */
export function entryOf(name: string): Entry {
  const found = (STATUSES as Record<string, Entry>)[name] ?? (OTHERS as Record<string, Entry>)[name];
  return found ?? entry("quiet", "dotted", name.replaceAll("_", " "), name);
}

export const FINAL: ReadonlySet<Status> = new Set(["success", "partial", "failed", "timeout", "cancelled", "skipped"]);
export const isFinal = (status: Status): boolean => FINAL.has(status);
export const FAILED: ReadonlySet<Status> = new Set(["failed", "timeout"]);
export const hasFailed = (status: Status): boolean => FAILED.has(status);

/** What a mark of the tick strip shows. */
export type Mark =
  | "ran"
  | "late"
  | "partial"
  | "failed"
  | "timeout"
  | "running"
  | "queued"
  | "missed"
  | "skipped"
  | "coalesced"
  | "cancelled"
  | "launch_failed"
  | "planned";

export const MARKS: Record<Mark, Entry> = {
  ran: entry("ok", "check", "ran", "on time; the mark shows how the run ended"),
  late: entry("look", "foot", "ran late", "caught up after its planned time"),
  partial: entry("look", "half", "ran, partial", "a tolerated part of its items failed"),
  failed: entry("bad", "cross", "ran, failed", "the run failed"),
  timeout: entry("bad", "hourglass", "ran, timeout", "the run took too long"),
  running: entry("run", "running", "running", "the run has not ended"),
  queued: entry("quiet", "dotted", "queued", "the run exists and waits for a slot or a limit"),
  missed: entry("look", "hollow", "missed", "no scheduler was running, or it was too old to catch up"),
  skipped: entry("quiet", "chevrons", "skipped", "overlap, pause, gate or breaker"),
  coalesced: entry("quiet", "bent", "coalesced", "another tick ran for it"),
  cancelled: entry("quiet", "stroke", "cancelled", "the schedule was changed or deleted, or the run cancelled"),
  launch_failed: entry("bad", "bare-cross", "launch failed", "no run could be started"),
  planned: entry("quiet", "clock", "planned", "still to come"),
};

const MARK_OF_STATUS: Record<Status, Mark> = {
  success: "ran",
  partial: "partial",
  failed: "failed",
  timeout: "timeout",
  running: "running",
  cancelling: "running",
  queued: "queued",
  scheduled: "queued",
  cancelled: "cancelled",
  skipped: "skipped",
};

/** Return the mark of a settled tick: one that ran shows how its run ended. */
export function markOf(tick: {
  outcome: TickOutcome;
  reason: TickReason;
  status: Status | null;
  is_late?: boolean;
}): Mark {
  switch (tick.outcome) {
    case "ran": {
      const mark = tick.status === null ? "ran" : MARK_OF_STATUS[tick.status];
      return mark === "ran" && (tick.reason === "caught_up" || tick.is_late) ? "late" : mark;
    }
    case "failed":
      return "launch_failed";
    default:
      return tick.outcome;
  }
}

/** Reasons of ticks in words. */
export const REASONS: Record<TickReason, string> = {
  boot: "The schedule fires when the server starts.",
  caught_up: "It ran after its planned time, because no scheduler was running then.",
  deleted: "The schedule was deleted before this time.",
  disabled: "The schedule or its job was disabled.",
  down: "No scheduler was running at this time.",
  launch_failed: "The run could not be created.",
  on_time: "It ran at its planned time.",
  overlap: "An earlier run was still running.",
  paused: "The schedule or its job was paused.",
  successful: "The schedule stops after a success, and a run has succeeded.",
  superseded: "The schedule was changed before this time.",
  too_old: "No scheduler was running then, and later it was too old to catch up.",
};
