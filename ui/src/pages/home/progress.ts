/** How far a run is. Pure. */
import type { ProgressView, UsualView } from "@/api/types.gen";

export interface Gauge {
  /** 0 to 1 of the width. */
  filled: number;
  /** The place of the usual duration, 0 to 1; null: not known. */
  usual: number | null;
  /** It takes longer than 95 % of the successes. */
  isOver: boolean;
}

/** Return the bar of a run: its own progress if it reports some, else its time on a scale that ends at p95. */
export function gaugeOf(passed: number, usual: UsualView | null, progress: ProgressView | null): Gauge | null {
  const isOver = usual !== null && passed > usual.p95;
  if (progress) return { filled: clamp(progress.fraction), usual: null, isOver };
  if (!usual || usual.p95 <= 0) return null;
  return { filled: clamp(passed / usual.p95), usual: clamp(usual.p50 / usual.p95), isOver };
}

const clamp = (share: number): number => Math.max(0, Math.min(1, share));
