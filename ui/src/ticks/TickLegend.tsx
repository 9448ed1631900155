import { MARKS, type Mark } from "@/status/table";
import { TickMark } from "./TickMark";
import classes from "./ticks.module.css";

const SHOWN: readonly Mark[] = [
  "ran",
  "late",
  "partial",
  "failed",
  "timeout",
  "running",
  "queued",
  "missed",
  "skipped",
  "coalesced",
  "cancelled",
  "launch_failed",
  "planned",
];

/** What the marks of the strip mean. */
export function TickLegend({ marks = SHOWN }: { marks?: readonly Mark[] }) {
  return (
    <div className={classes.legend}>
      {marks.map((mark) => (
        <span key={mark} title={MARKS[mark].meaning}>
          <svg width={7} height={18} aria-hidden="true">
            <TickMark mark={mark} x={0} y={0} width={5} height={18} />
          </svg>
          {MARKS[mark].word}
        </span>
      ))}
    </div>
  );
}
