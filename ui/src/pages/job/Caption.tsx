import type { UsualView } from "@/api/types.gen";
import { duration } from "@/time/format";
import classes from "./chart.module.css";

/** The name of a plot, and what its lines are. */
export function Caption({ title, usual }: { title: string; usual: UsualView | null }) {
  return (
    <div className={classes.caption}>
      {title}
      {usual && (
        <>
          <Key className={classes.p50} />
          <span>p50 {duration(usual.p50)}</span>
          <Key className={classes.p95} />
          <span>p95 {duration(usual.p95)}</span>
        </>
      )}
    </div>
  );
}

function Key({ className }: { className: string | undefined }) {
  return (
    <svg width={16} height={2} aria-hidden="true">
      <line className={className} x1={0} x2={16} y1={1} y2={1} />
    </svg>
  );
}
