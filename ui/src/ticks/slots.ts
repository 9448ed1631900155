/** From the ticks of the API to the slots of the strip: one slot for each planned time, oldest first. Pure. */
import type { Status, TickOutcome, TickReason, TickView } from "@/api/types.gen";
import { MARKS, type Mark, markOf } from "@/status/table";

export const SETTLED = 30;
export const PLANNED = 5;

/** What the strip needs of a tick; a TickView has it. */
export type StripTick = Pick<TickView, "scheduled_for" | "outcome" | "reason" | "status"> &
  Partial<Pick<TickView, "schedule_id" | "run_id" | "until" | "count" | "coalesced_into">> & {
    /** Its run began, or waits, more than a minute after the planned time. */
    is_late?: boolean;
  };

export interface Slot {
  mark: Mark;
  /** The planned time. */
  at: string;
  outcome: TickOutcome | null;
  reason: TickReason | null;
  status: Status | null;
  scheduleId: string | null;
  runId: string | null;
  /** How many planned times this slot stands for, if a range did not fit. */
  count: number;
  until: string | null;
}

/** Return the last settled ticks as slots, oldest first. A range of ticks has a slot for each, as far as there is room. */
export function settledSlots(ticks: readonly StripTick[], most: number = SETTLED): Slot[] {
  const newestFirst = [...ticks].sort(
    (a, b) => Date.parse(b.until ?? b.scheduled_for) - Date.parse(a.until ?? a.scheduled_for),
  );
  const slots: Slot[] = [];
  for (const tick of newestFirst) {
    if (slots.length >= most) break;
    slots.push(...spread(tick, most - slots.length));
  }
  return slots.reverse();
}

/** Return the slots of a tick or a range, newest first. Only the ends of a range have exact times. */
function spread(tick: StripTick, room: number): Slot[] {
  const slot: Slot = {
    mark: markOf(tick),
    at: tick.scheduled_for,
    outcome: tick.outcome,
    reason: tick.reason,
    status: tick.status,
    scheduleId: tick.schedule_id ?? null,
    runId: tick.run_id ?? null,
    count: 1,
    until: null,
  };
  const count = tick.count ?? 1;
  if (count <= 1 || !tick.until) return [slot];
  const [first, last] = [Date.parse(tick.scheduled_for), Date.parse(tick.until)];
  const shown = Math.min(count, room);
  return Array.from({ length: shown }, (_, index) => {
    const isOldest = index === shown - 1;
    const at = isOldest ? first : last - ((last - first) / (count - 1)) * index;
    const hidden = isOldest ? count - shown + 1 : 1;
    return { ...slot, at: new Date(at).toISOString(), count: hidden, until: hidden > 1 ? (tick.until ?? null) : null };
  });
}

/** Return the next planned times as slots. */
export function plannedSlots(times: readonly string[], most: number = PLANNED): Slot[] {
  return [...times]
    .sort((a, b) => Date.parse(a) - Date.parse(b))
    .slice(0, most)
    .map((at) => ({
      mark: "planned" as const,
      at,
      outcome: null,
      reason: null,
      status: null,
      scheduleId: null,
      runId: null,
      count: 1,
      until: null,
    }));
}

/** Return the strip in words, with the most frequent mark first. */
export function describe(settled: readonly Slot[], planned: readonly Slot[]): string {
  const counts = new Map<Mark, number>();
  for (const slot of settled) counts.set(slot.mark, (counts.get(slot.mark) ?? 0) + slot.count);
  const parts = [...counts].sort((a, b) => b[1] - a[1]).map(([mark, count]) => `${count} ${MARKS[mark].word}`);
  const past = settled.length === 0 ? "no ticks yet" : `last ${settled.length} ticks: ${parts.join(", ")}`;
  return planned.length === 0 ? past : `${past}; next ${planned.length} planned`;
}
