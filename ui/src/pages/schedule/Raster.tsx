import { type KeyboardEvent, memo, useMemo } from "react";
import type { LedgerPage } from "@/api/types.gen";
import { MARKS } from "@/status/table";
import { TickMark } from "@/ticks/TickMark";
import { fullMoment } from "@/time/format";
import { useNow } from "@/time/useNow";
import { useZone } from "@/time/zone";
import { type Cell, describeRow, placeOf, type Row, raster } from "./raster";
import classes from "./Schedule.module.css";

const WIDTH = 720;
const HEIGHT = 14;
const PITCH = 20;
const HOURS = [0, 3, 6, 9, 12, 15, 18, 21, 24];

interface Props {
  page: LedgerPage;
  days: number;
  open: string | undefined;
  onOpen: (at: string) => void;
}

/** A row for each day and a mark for each tick, with the marks of the strip. */
export function Raster({ page, days, open, onOpen }: Props) {
  const zone = useZone();
  const now = useNow(60_000);
  const minute = Math.floor(now / 60_000) * 60_000;
  const rows = useMemo(() => {
    const coming = page.next.map((fire) => fire.at);
    return raster(page.ticks, coming, days, minute, zone);
  }, [page, days, minute, zone]);
  const most = Math.max(1, ...rows.map((row) => row.cells.length));
  const width = Math.max(2, Math.min(8, (WIDTH / Math.max(most, 24)) * 0.7));
  const nowAt = placeOf(minute, zone).x * WIDTH;
  const openAt = open === undefined ? undefined : new Date(open).toISOString();
  return (
    <div className={classes.raster}>
      <div className={classes.hours} aria-hidden="true">
        {HOURS.map((hour) => (
          <span key={hour} style={{ left: `${(hour / 24) * 100}%` }}>
            {`${String(hour).padStart(2, "0")}:00`}
          </span>
        ))}
      </div>
      {rows.map((row) => (
        <Day
          key={row.key}
          row={row}
          width={width}
          nowAt={row.isToday ? nowAt : null}
          open={row.cells.some((cell) => cell.at === openAt) ? openAt : undefined}
          onOpen={onOpen}
        />
      ))}
    </div>
  );
}

interface DayProps {
  row: Row;
  width: number;
  nowAt: number | null;
  open: string | undefined;
  onOpen: (at: string) => void;
}

const Day = memo(function Day({ row, width, nowAt, open, onOpen }: DayProps) {
  return (
    <div className={classes.day} data-weekend={row.isWeekend || undefined}>
      <span className={classes.label}>{row.isToday ? <b>{row.label}</b> : row.label}</span>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be drawn */}
      <svg
        viewBox={`0 0 ${WIDTH} ${PITCH}`}
        preserveAspectRatio="none"
        className={classes.marks}
        role="group"
        aria-label={describeRow(row)}
      >
        {nowAt !== null && <line className={classes.now} x1={nowAt} x2={nowAt} y1={0} y2={PITCH} />}
        {row.cells.map((cell) => (
          <Mark key={`${cell.at} ${cell.mark}`} cell={cell} width={width} isOpen={cell.at === open} onOpen={onOpen} />
        ))}
      </svg>
    </div>
  );
});

function Mark({
  cell,
  width,
  isOpen,
  onOpen,
}: {
  cell: Cell;
  width: number;
  isOpen: boolean;
  onOpen: (at: string) => void;
}) {
  const zone = useZone();
  const x = Math.min(cell.x * WIDTH, WIDTH - width);
  const title = `${MARKS[cell.mark].word}, ${fullMoment(cell.at, zone)}${cell.count > 1 ? `, ${cell.count} ticks` : ""}`;
  const mark = <TickMark mark={cell.mark} x={x} y={(PITCH - HEIGHT) / 2} width={width} height={HEIGHT} />;
  if (cell.mark === "planned") return mark;
  const press = (event: KeyboardEvent) => event.key === "Enter" && onOpen(cell.at);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a button cannot stand in an SVG
    <g
      role="button"
      tabIndex={-1}
      className={classes.mark}
      onClick={() => onOpen(cell.at)}
      onKeyDown={press}
      aria-label={title}
    >
      <title>{title}</title>
      <rect x={x - 1} y={0} width={width + 2} height={PITCH} fill="transparent" />
      {isOpen && <rect className={classes.open} x={x - 2} y={0.75} width={width + 4} height={PITCH - 1.5} rx={3} />}
      {mark}
    </g>
  );
}
