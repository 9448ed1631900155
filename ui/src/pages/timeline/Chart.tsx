import { useElementSize } from "@mantine/hooks";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { TimelineBar, TimelinePage, TimelineRow } from "@/api/types.gen";
import { useKeys } from "@/shell/keys";
import { counted, shortMoment } from "@/time/format";
import { useNow } from "@/time/useNow";
import { useZone } from "@/time/zone";
import { axisOf } from "@/timechart/axis";
import chart from "@/timechart/timechart.module.css";
import { barWords, hueOf, rowWords } from "./interval";
import classes from "./timeline.module.css";

const AXIS = 24;
const STRIP = 36;
const TOP = AXIS + STRIP + 8;
const ROW = 28;
const BAR = 14;
const LEAST = 3;
const END = 12;

interface Props {
  page: TimelinePage;
  rows: readonly TimelineRow[];
}

interface Place {
  row: number;
  /** The bar that h and l have chosen. */
  bar: number | null;
}

/** A row for each job; on top, how many runs were under way at once. */
export function Chart({ page, rows }: Props) {
  const { ref, width } = useElementSize();
  const zone = useZone();
  const now = useNow();
  const navigate = useNavigate();
  const [place, setPlace] = useState<Place | null>(null);
  const [begin, end] = [Date.parse(page.since), Date.parse(page.until)];
  const labels = width < 520 ? 96 : 172;
  const x = (at: number) => {
    const share = (Math.min(Math.max(at, begin), end) - begin) / (end - begin);
    return labels + share * Math.max(0, width - labels - END);
  };
  const openBar = (row: TimelineRow, bar: TimelineBar) => {
    if (bar.count === 1) return void navigate({ to: "/runs/$runId", params: { runId: bar.run_id } });
    const until = new Date(Date.parse(bar.begin) + page.step * 1_000).toISOString();
    void navigate({ to: "/runs", search: { job: row.job_id, since: bar.begin, until } });
  };
  const move = (by: number) => () => {
    const next = place ? place.row + by : 0;
    setPlace({ row: Math.max(0, Math.min(rows.length - 1, next)), bar: null });
  };
  const step = (by: number) => () => {
    const bars = place ? (rows[place.row]?.bars ?? []) : [];
    if (!place || bars.length === 0) return false;
    const next = place.bar === null ? bars.length - 1 : place.bar + by;
    return setPlace({ ...place, bar: Math.max(0, Math.min(bars.length - 1, next)) });
  };
  useKeys({
    next: move(1),
    previous: move(-1),
    tickLeft: step(-1),
    tickRight: step(1),
    open: () => {
      const row = place && rows[place.row];
      if (!row) return false;
      const bar = place.bar === null ? undefined : row.bars[place.bar];
      if (bar) openBar(row, bar);
      else void navigate({ to: "/jobs/$jobId", params: { jobId: row.job_id } });
    },
  });
  const height = TOP + rows.length * ROW;
  const axis = axisOf(begin, end, Math.max(2, Math.floor((width - labels) / 84)), zone);
  const chosen = place && rows[place.row];
  const bar = chosen && place.bar !== null ? chosen.bars[place.bar] : undefined;
  return (
    <div ref={ref} className={classes.chart}>
      <ul className={classes.jobs} style={{ top: TOP, width: labels - 12 }} aria-label="Jobs">
        {rows.map((row, index) => (
          <li key={row.job_id} style={{ height: ROW }} data-current={place?.row === index || undefined}>
            <Link to="/jobs/$jobId" params={{ jobId: row.job_id }} className="clip" aria-label={rowWords(row)}>
              {row.job_id}
            </Link>
          </li>
        ))}
      </ul>
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label="Runs and fire times of all jobs">
          {axis.map((mark) => (
            <g key={mark.at}>
              <line className={chart.grid} x1={x(mark.at)} x2={x(mark.at)} y1={AXIS - 4} y2={height} />
              <text className={chart.axis} x={x(mark.at)} y={12} textAnchor="middle">
                {mark.word}
              </text>
            </g>
          ))}
          <Strip page={page} x={x} />
          {rows.map((row, index) => (
            <Marks
              key={row.job_id}
              row={row}
              top={TOP + index * ROW}
              x={x}
              width={width}
              words={(one) => barWords(row.job_id, one, zone, now)}
              fireWords={(at, count) => `${counted(count, "fire")} of ${row.job_id}, ${shortMoment(at, zone, now)}`}
              onOpen={openBar}
              chosen={place?.row === index ? place.bar : null}
              isCurrent={place?.row === index}
            />
          ))}
          {now > begin && now < end && <line className={chart.now} x1={x(now)} x2={x(now)} y1={AXIS - 6} y2={height} />}
        </svg>
      )}
      <p className={`${classes.chosen} faint`} role="status">
        {bar && chosen ? barWords(chosen.job_id, bar, zone, now) : chosen ? rowWords(chosen) : ""}
      </p>
    </div>
  );
}

/** How many runs were under way at once, as steps. */
function Strip({ page, x }: { page: TimelinePage; x: (at: number) => number }) {
  const most = Math.max(1, ...page.concurrency);
  const begin = Date.parse(page.since);
  const floor = AXIS + STRIP;
  const y = (count: number) => floor - (count / most) * (STRIP - 6);
  const path = page.concurrency
    .map((count, index) => `V${y(count)}H${x(begin + (index + 1) * page.step * 1_000)}`)
    .join("");
  return (
    <g className={classes.strip}>
      <title>{`Runs at once: at most ${Math.max(0, ...page.concurrency)}`}</title>
      <path d={`M${x(begin)} ${floor}${path}V${floor}Z`} />
      <text x={0} y={floor - 12}>
        runs at once
      </text>
      <text x={0} y={floor + 2}>
        at most {Math.max(0, ...page.concurrency)}
      </text>
    </g>
  );
}

interface MarksProps {
  row: TimelineRow;
  top: number;
  width: number;
  x: (at: number) => number;
  words: (bar: TimelineBar) => string;
  fireWords: (at: string, count: number) => string;
  onOpen: (row: TimelineRow, bar: TimelineBar) => void;
  chosen: number | null;
  isCurrent: boolean;
}

function Marks({ row, top, width, x, words, fireWords, onOpen, chosen, isCurrent }: MarksProps) {
  const now = useNow();
  const middle = top + ROW / 2;
  return (
    <g>
      {isCurrent && <rect className={classes.current} x={0} y={top} width={width} height={ROW} />}
      <line className={chart.grid} x1={0} x2={width} y1={top + ROW} y2={top + ROW} />
      {row.fires.map((one) => (
        <rect
          key={one.at}
          className={classes.fire}
          data-many={one.count > 1 || undefined}
          x={x(Date.parse(one.at)) - LEAST / 2}
          y={middle - 5}
          width={LEAST}
          height={10}
          rx={1}
        >
          <title>{fireWords(one.at, one.count)}</title>
        </rect>
      ))}
      {row.bars.map((bar, index) => {
        const left = x(Date.parse(bar.begin));
        const right = Math.max(left + LEAST, x(bar.end === null ? now : Date.parse(bar.end)));
        const hue = hueOf(bar);
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the keys j, k, h, l and Enter reach every bar
          <g
            key={bar.run_id}
            className={`${chart.bar} ${classes.bar}`}
            data-hue={hue}
            data-open={index === chosen || undefined}
            onClick={() => onOpen(row, bar)}
          >
            <title>{words(bar)}</title>
            <rect x={left - 2} y={top + 2} width={right - left + 4} height={ROW - 4} fill="transparent" />
            <rect className={chart.fill} x={left} y={middle - BAR / 2} width={right - left} height={BAR} rx={1.5} />
            {(hue === "bad" || hue === "look") && (
              <rect className={chart.gap} x={left} y={middle - 1} width={right - left} height={2} />
            )}
          </g>
        );
      })}
    </g>
  );
}
