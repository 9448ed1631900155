import { counted, moment } from "@/time/format";
import { useZone } from "@/time/zone";
import classes from "./home.module.css";

const WIDTH = 372;
const HEIGHT = 40;
const STEP = 3;
const MINUTE = 60_000;

interface Props {
  /** Fires in each of the next 60 minutes. */
  minutes: readonly number[];
  at: string;
}

/** The fires of the next hour, three minutes a bar. */
export function Histogram({ minutes, at }: Props) {
  const zone = useZone();
  const bars = inSteps(minutes, STEP);
  const most = Math.max(1, ...bars);
  const pitch = WIDTH / bars.length;
  const start = Date.parse(at);
  const time = (minute: number) => moment(start + minute * MINUTE, zone).time;
  return (
    <svg
      className={classes.histogram}
      viewBox={`0 0 ${WIDTH} ${HEIGHT + 34}`}
      role="img"
      aria-label={`${counted(sum(minutes), "fire")} in the next hour`}
    >
      <text className={classes.now} x={6} y={10}>
        now {time(0)}
      </text>
      <g transform="translate(0 16)">
        {bars.map((count, index) => {
          const height = count === 0 ? 0 : Math.max(5, Math.round((count / most) * HEIGHT));
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
            <g key={index}>
              <title>{`${time(index * STEP)} to ${time((index + 1) * STEP)}: ${counted(count, "fire")}`}</title>
              <rect x={index * pitch} width={pitch} height={HEIGHT} fill="transparent" />
              {height > 0 && (
                <rect
                  className={classes.fires}
                  x={index * pitch + 5.5}
                  y={HEIGHT - height + 0.5}
                  width={pitch - 9}
                  height={height - 1}
                  rx={2}
                />
              )}
            </g>
          );
        })}
        <rect className={classes.nowLine} x={0} y={-16} width={2} height={HEIGHT + 16} rx={1} />
        <line className={classes.base} x1={0} x2={WIDTH} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
        {[15, 30, 45].map((minute) => (
          <text key={minute} className={classes.axis} x={(minute / 60) * WIDTH} y={HEIGHT + 15} textAnchor="middle">
            {time(minute)}
          </text>
        ))}
      </g>
    </svg>
  );
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

/** Return the sums of every few minutes. Pure. */
export function inSteps(minutes: readonly number[], step: number): number[] {
  return Array.from({ length: Math.ceil(minutes.length / step) }, (_, index) =>
    sum(minutes.slice(index * step, (index + 1) * step)),
  );
}
