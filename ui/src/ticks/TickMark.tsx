import { memo } from "react";
import type { Mark } from "@/status/table";
import classes from "./ticks.module.css";

interface Props {
  mark: Mark;
  x: number;
  y: number;
  /** The size of a full bar. */
  width: number;
  height: number;
}

/**
 * One mark. Height is meaning: full, if something ran or should have; low, if it was decided not to; two thirds and
 * outlined, if it is still to come.
 */
export const TickMark = memo(function TickMark({ mark, x, y, width, height }: Props) {
  return <g transform={`translate(${x} ${y})`}>{shape(mark, width, height)}</g>;
});

function shape(mark: Mark, w: number, h: number) {
  const round = Math.min(2, w * 0.22);
  const dot = Math.min(5, w / 2);
  const below = dot * 2 + 2;
  switch (mark) {
    case "ran":
      return <rect className={classes.ok} width={w} height={h} rx={round} />;
    case "late": {
      const foot = Math.max(2.5, h * 0.13);
      return (
        <>
          <rect className={classes.ok} width={w} height={h - foot - 2} rx={round} />
          <rect className={classes.look} y={h - foot} width={w} height={foot} rx={1} />
        </>
      );
    }
    case "partial":
      return (
        <>
          {outline(classes.lookLine, w, h, 0, Math.max(1.2, w * 0.1))}
          <rect className={classes.look} y={h / 2} width={w} height={h / 2} rx={round} />
        </>
      );
    case "failed": {
      const part = h * 0.42;
      return (
        <>
          <rect className={classes.bad} width={w} height={part} rx={round} />
          <rect className={classes.bad} y={h - part} width={w} height={part} rx={round} />
        </>
      );
    }
    case "timeout":
      return (
        <path className={classes.bad} d={`M0 0h${w}L${w * 0.66} ${h / 2}L${w} ${h}h${-w}L${w * 0.34} ${h / 2}z`} />
      );
    case "running":
      return (
        <>
          <circle className={`${classes.run} ${classes.pulse}`} cx={w / 2} cy={dot} r={dot} />
          <rect className={classes.run} y={below} width={w} height={h - below} rx={round} />
        </>
      );
    case "queued":
      return (
        <>
          <circle className={classes.quiet} cx={w / 2} cy={dot} r={dot} />
          {outline(classes.quietLine, w, h, below, Math.max(1, w * 0.1))}
        </>
      );
    case "missed":
      return outline(classes.lookLine, w, h, 0, Math.max(1.5, w * 0.125));
    case "skipped":
      return <rect className={classes.quiet} y={h * 0.7} width={w} height={h * 0.3} rx={round * 0.8} />;
    case "coalesced":
      return <path className={classes.quietLine} strokeWidth={2} d={`M1 ${h * 0.6}V${h - 1}H${w + 1.5}`} />;
    case "cancelled":
      return (
        <path
          className={classes.quietLine}
          strokeWidth={1.5}
          strokeLinecap="round"
          d={`M.5 ${h - 0.75}L${w - 0.5} ${h * 0.62}`}
        />
      );
    case "launch_failed":
      return (
        <path
          className={classes.badLine}
          strokeWidth={1.6}
          strokeLinecap="round"
          d={`M.6 ${h - w + 0.6}L${w - 0.6} ${h - 0.6}M${w - 0.6} ${h - w + 0.6}L.6 ${h - 0.6}`}
        />
      );
    case "planned":
      return outline(classes.quietLine, w, h, h / 3, 1);
  }
}

function outline(className: string | undefined, w: number, h: number, top: number, stroke: number) {
  return (
    <rect
      className={className}
      x={stroke / 2}
      y={top + stroke / 2}
      width={w - stroke}
      height={h - top - stroke}
      rx={Math.min(2, w * 0.22)}
      strokeWidth={stroke}
    />
  );
}
