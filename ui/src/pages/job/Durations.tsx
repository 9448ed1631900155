import type { JobHistory } from "@/api/types.gen";
import { entryOf } from "@/status/table";
import { duration } from "@/time/format";
import { Caption } from "./Caption";
import { chartWords, type Place } from "./Chart";
import classes from "./chart.module.css";
import { Levels } from "./Levels";
import { axisMarks, topOf } from "./scale";

const HEIGHT = 96;
const TOP = 10;

interface Props {
  history: JobHistory;
  place: Place;
  width: number;
}

/** A bar for each run: its height is the duration, its shape and colour the status. */
export function Durations({ history, place, width }: Props) {
  const { runs, duration: usual } = history;
  const values = runs.map((run) => run.duration ?? 0);
  const marks = axisMarks(topOf(values, usual?.p95 ?? null), 3);
  const top = marks.at(-1) ?? 1;
  const y = (value: number) => TOP + HEIGHT - (Math.min(value, top) / top) * HEIGHT;
  const bar = Math.max(2, Math.min(14, place.pitch * 0.62));
  return (
    <>
      <Caption title="Duration" usual={usual} />
      <svg width={width} height={TOP + HEIGHT + 6} role="img" aria-label={chartWords(history)}>
        {marks.map((mark) => (
          <g key={mark}>
            <line className={classes.grid} x1={0} x2={place.end} y1={y(mark) + 0.5} y2={y(mark) + 0.5} />
            <text className={classes.axis} x={width} y={y(mark) + 4} textAnchor="end">
              {duration(mark)}
            </text>
          </g>
        ))}
        {runs.map((run, index) => {
          const value = run.duration ?? 0;
          const height = Math.max(3, TOP + HEIGHT - y(value));
          const x = place.x(index) - bar / 2;
          const { hue } = entryOf(run.status);
          const isBroken = hue === "bad" && height > 14;
          return (
            <g key={run.id} data-hue={hue} className={classes.bar}>
              <rect x={x} y={TOP + HEIGHT - height} width={bar} height={height} rx={Math.min(2, bar / 4)} />
              {isBroken && (
                <rect
                  className={classes.gap}
                  x={x - 1}
                  y={TOP + HEIGHT - height / 2 - 1.5}
                  width={bar + 2}
                  height={3}
                />
              )}
              {value > top && (
                <path className={classes.gap} d={`M${x - 1} ${TOP + 9}l${bar + 2} -4v3l${-bar - 2} 4z`} />
              )}
            </g>
          );
        })}
        {usual && <Levels usual={usual} y={y} top={top} end={place.end} />}
      </svg>
    </>
  );
}
