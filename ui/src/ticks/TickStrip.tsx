import { Portal } from "@mantine/core";
import { memo, type PointerEvent, useMemo, useState } from "react";
import { moment } from "@/time/format";
import { useZone } from "@/time/zone";
import { describe, PLANNED, plannedSlots, SETTLED, type Slot, type StripTick, settledSlots } from "./slots";
import { TickCard } from "./TickCard";
import { TickMark } from "./TickMark";
import classes from "./ticks.module.css";

const SIZES = {
  list: { width: 5, height: 18, pitch: 8, top: 3, bottom: 3, beside: 5, dates: false },
  large: { width: 14, height: 44, pitch: 21, top: 6, bottom: 24, beside: 9, dates: true },
} as const;
const NOW_WIDTH = 2;
const CARD_GAP = 8;
const CARD_WIDTH = 340;

interface Props {
  /** Settled ticks in any order; those of all schedules of a job together. */
  ticks: readonly StripTick[];
  /** The next planned times. None for a paused job: their room stays, so that all now-lines align. */
  planned?: readonly string[];
  size?: keyof typeof SIZES;
  /** The slot that the keyboard has selected: 0 is the oldest of the 30 settled places. */
  active?: number | null;
  /** Called with a clicked slot. */
  onOpen?: (slot: Slot) => void;
}

/**
 * The last 30 ticks, a now-line and the next five. One place per tick whatever the interval: it counts decisions, it is
 * not an axis of time.
 */
export const TickStrip = memo(function TickStrip({ ticks, planned, size = "list", active = null, onOpen }: Props) {
  const settled = useMemo(() => settledSlots(ticks), [ticks]);
  const coming = useMemo(() => plannedSlots(planned ?? []), [planned]);
  const [hovered, setHovered] = useState<number | null>(null);
  const [svg, setSvg] = useState<SVGSVGElement | null>(null);
  const { width, height, pitch, top, bottom, beside } = SIZES[size];
  const nowX = SETTLED * pitch - (pitch - width) + beside;
  const plannedX = nowX + NOW_WIDTH + beside;
  const total = plannedX + PLANNED * pitch - (pitch - width);
  // A new job fills the strip from the now-line to the left.
  const empty = SETTLED - settled.length;
  const xOf = (place: number) => (place < SETTLED ? place * pitch : plannedX + (place - SETTLED) * pitch);
  const slotAt = (place: number): Slot | undefined =>
    place < SETTLED ? settled[place - empty] : coming[place - SETTLED];

  const placeOf = (event: PointerEvent<SVGSVGElement>): number | null => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
    const place = x < nowX ? Math.floor(x / pitch) : SETTLED + Math.floor((x - plannedX) / pitch);
    return x >= 0 && slotAt(place) ? place : null;
  };
  const shown = hovered ?? active;
  const slot = shown === null ? undefined : slotAt(shown);

  return (
    <span className={classes.strip}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the row move and open, see active */}
      <svg
        ref={setSvg}
        width={total}
        height={top + height + bottom}
        role="img"
        aria-label={describe(settled, coming)}
        className={onOpen && slot ? classes.opens : undefined}
        onPointerMove={(event) => setHovered(placeOf(event))}
        onPointerLeave={() => setHovered(null)}
        onClick={() => slot && onOpen?.(slot)}
      >
        {settled.map((one, index) => (
          <TickMark key={one.at} mark={one.mark} x={xOf(empty + index)} y={top} width={width} height={height} />
        ))}
        <rect className={classes.now} x={nowX} y={0} width={NOW_WIDTH} height={top + height + top} rx={1} />
        {coming.map((one, index) => (
          <TickMark key={one.at} mark="planned" x={xOf(SETTLED + index)} y={top} width={width} height={height} />
        ))}
        {slot && shown !== null && (
          <rect
            className={classes.ring}
            x={xOf(shown) - 1.5}
            y={top - 2}
            width={width + 3}
            height={height + 4}
            rx={Math.min(4, width / 2)}
          />
        )}
        {SIZES[size].dates && (
          <Dates settled={settled} x={(index) => xOf(empty + index) + width / 2} y={top * 2 + height + 12} />
        )}
      </svg>
      {slot && shown !== null && <FloatingCard slot={slot} anchor={svg} x={xOf(shown) + width / 2} />}
    </span>
  );
});

/** Below every fifth tick: its day, or its time if the label before has the same day. */
function Dates({ settled, x, y }: { settled: Slot[]; x: (index: number) => number; y: number }) {
  const zone = useZone();
  const labelled = settled.map((slot, index) => ({ slot, index })).filter(({ index }) => index % 5 === 0);
  return labelled.map(({ slot, index }, place) => {
    const { day, time } = moment(slot.at, zone);
    const before = labelled[place - 1];
    const isSameDay = before !== undefined && moment(before.slot.at, zone).day === day;
    return (
      <text key={slot.at} className={classes.date} x={x(index)} y={y} textAnchor={index === 0 ? "start" : "middle"}>
        {isSameDay ? time : day}
      </text>
    );
  });
}

function FloatingCard({ slot, anchor, x }: { slot: Slot; anchor: SVGSVGElement | null; x: number }) {
  if (!anchor) return null;
  const box = anchor.getBoundingClientRect();
  const left = Math.max(CARD_GAP, Math.min(box.left + x, window.innerWidth - CARD_WIDTH - CARD_GAP));
  const isLow = box.bottom > window.innerHeight - 140;
  const place = isLow
    ? { left, bottom: window.innerHeight - box.top + CARD_GAP }
    : { left, top: box.bottom + CARD_GAP };
  return (
    <Portal>
      <div className={classes.card} style={place} role="tooltip">
        <TickCard slot={slot} />
      </div>
    </Portal>
  );
}
