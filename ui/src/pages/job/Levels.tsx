import type { UsualView } from "@/api/types.gen";
import classes from "./chart.module.css";

interface Props {
  usual: UsualView;
  y: (value: number) => number;
  /** The value that the axis ends at. */
  top: number;
  end: number;
}

/** The lines of p50 and p95. */
export function Levels({ usual: { p50, p95 }, y, top, end }: Props) {
  return (
    <>
      <line className={classes.p50} x1={0} x2={end} y1={y(p50)} y2={y(p50)} />
      {p95 <= top && <line className={classes.p95} x1={0} x2={end} y1={y(p95)} y2={y(p95)} />}
    </>
  );
}
