import type { JobHistory } from "@/api/types.gen";
import { duration } from "@/time/format";
import { Caption } from "./Caption";
import type { Place } from "./Chart";
import classes from "./chart.module.css";
import { Levels } from "./Levels";
import { axisMarks, topOf } from "./scale";

const HEIGHT = 42;
const TOP = 8;

interface Props {
  history: JobHistory;
  place: Place;
  width: number;
}

/** A dot for each run: how long after its planned time it started. */
export function Delays({ history, place, width }: Props) {
  const { runs, lag } = history;
  const values = runs.map((run) => run.lag ?? 0);
  const marks = axisMarks(topOf(values, lag?.p95 ?? null), 2);
  const top = marks.at(-1) ?? 1;
  const y = (value: number) => TOP + HEIGHT - (Math.min(value, top) / top) * HEIGHT;
  return (
    <>
      <Caption title="Start delay" usual={lag} />
      <svg width={width} height={TOP + HEIGHT + 6} aria-hidden="true">
        {marks.map((mark) => (
          <g key={mark}>
            <line className={classes.grid} x1={0} x2={place.end} y1={y(mark) + 0.5} y2={y(mark) + 0.5} />
            <text className={classes.axis} x={width} y={y(mark) + 4} textAnchor="end">
              {duration(mark)}
            </text>
          </g>
        ))}
        {lag && <Levels usual={lag} y={y} top={top} end={place.end} />}
        {runs.map((run, index) => {
          if (run.lag === null) return null;
          const [x, level] = [place.x(index), y(run.lag)];
          return (
            <g key={run.id}>
              <line className={classes.stem} x1={x} x2={x} y1={level} y2={TOP + HEIGHT} />
              <circle className={classes.dot} cx={x} cy={level} r={place.pitch < 8 ? 1.5 : 2.2} />
            </g>
          );
        })}
      </svg>
    </>
  );
}
