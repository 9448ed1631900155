import { useElementSize } from "@mantine/hooks";
import type { KeyboardEvent } from "react";
import type { Hue } from "@/status/table";
import { useNow } from "@/time/useNow";
import { useZone } from "@/time/zone";
import { axisOf } from "./axis";
import classes from "./timechart.module.css";

export interface Bar {
  key: string;
  begin: number;
  /** null: it has not ended. */
  end: number | null;
  hue: Hue;
  /** Still to come: an outline. */
  isToCome?: boolean;
  /** A wait before the begin, drawn as a thin line. */
  since?: number;
  /** The whole of it in words. */
  title: string;
  /** A short word beside the bar. */
  word?: string | undefined;
}

export interface Row {
  key: string;
  word: string;
  bars: readonly Bar[];
}

export interface Mark {
  at: number;
  word: string;
  hue: "look" | "bad" | "quiet";
}

interface Props {
  label: string;
  rows: readonly Row[];
  begin: number;
  end: number;
  marks?: readonly Mark[];
  /** Lines from one bar to the next, by their keys. */
  links?: readonly (readonly [from: string, to: string])[];
  open?: string | undefined;
  onOpen?: ((key: string) => void) | undefined;
  rowHeight?: number;
  /** The line of the current time is drawn while it is inside. */
  hasNow?: boolean;
}

const TOP = 26;
const LEAST = 3;
const BAR = 16;
const WORD_ROOM = 64;

/** Rows of bars over time. */
export function TimeChart(props: Props) {
  const { label, rows, begin, end, marks = [], links = [], open, onOpen, rowHeight = 40, hasNow } = props;
  const { ref, width } = useElementSize();
  const zone = useZone();
  const now = useNow();
  const labels = width < 520 ? 84 : 132;
  const span = Math.max(1, end - begin);
  const x = (at: number) => labels + 12 + ((at - begin) / span) * Math.max(0, width - labels - 12 - WORD_ROOM);
  const height = TOP + rows.length * rowHeight;
  const boxes = new Map<string, { left: number; right: number; middle: number }>();
  rows.forEach((row, index) => {
    for (const bar of row.bars) {
      const left = x(bar.begin);
      const right = Math.max(left + LEAST, x(bar.end ?? Math.min(Math.max(now, bar.begin), end)));
      boxes.set(bar.key, { left, right, middle: TOP + index * rowHeight + rowHeight / 2 });
    }
  });
  const axis = axisOf(begin, end, Math.max(2, Math.floor((width - labels) / 84)), zone);
  return (
    <div ref={ref} className={classes.chart}>
      {width > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be drawn
        <svg width={width} height={height + 4} role="group" aria-label={label}>
          {axis.map((mark) => (
            <g key={mark.at}>
              <line className={classes.grid} x1={x(mark.at)} x2={x(mark.at)} y1={TOP - 4} y2={height} />
              <text className={classes.axis} x={x(mark.at)} y={TOP - 12} textAnchor="middle">
                {mark.word}
              </text>
            </g>
          ))}
          {rows.map((row, index) => (
            <g key={row.key}>
              <line
                className={classes.grid}
                x1={0}
                x2={width}
                y1={TOP + (index + 1) * rowHeight}
                y2={TOP + (index + 1) * rowHeight}
              />
              <text className={classes.row} x={0} y={TOP + index * rowHeight + rowHeight / 2 + 4}>
                {shortened(row.word, labels)}
                <title>{row.word}</title>
              </text>
            </g>
          ))}
          {links.map(([from, to]) => {
            const [a, b] = [boxes.get(from), boxes.get(to)];
            return a && b ? <path key={`${from} ${to}`} className={classes.link} d={elbow(a, b)} /> : null;
          })}
          {marks.map((mark) => (
            <g key={mark.word} className={classes.mark} data-hue={mark.hue}>
              <line x1={x(mark.at)} x2={x(mark.at)} y1={TOP - 4} y2={height} />
              <text x={x(mark.at) - 6} y={TOP + 10} textAnchor="end">
                {mark.word}
              </text>
            </g>
          ))}
          {hasNow && now > begin && now < end && (
            <line className={classes.now} x1={x(now)} x2={x(now)} y1={TOP - 6} y2={height} />
          )}
          {rows.map((row) =>
            row.bars.map((bar) => {
              const box = boxes.get(bar.key);
              if (!box) return null;
              return (
                <BarMark
                  key={bar.key}
                  bar={bar}
                  {...box}
                  since={bar.since === undefined ? undefined : x(bar.since)}
                  isWordAbove={links.length > 0}
                  isOpen={bar.key === open}
                  onOpen={onOpen}
                />
              );
            }),
          )}
        </svg>
      )}
    </div>
  );
}

interface BarProps {
  bar: Bar;
  left: number;
  right: number;
  middle: number;
  since: number | undefined;
  /** Where links begin at the right of bars, their words are above. */
  isWordAbove: boolean;
  isOpen: boolean;
  onOpen: ((key: string) => void) | undefined;
}

function BarMark({ bar, left, right, middle, since, isWordAbove, isOpen, onOpen }: BarProps) {
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onOpen?.(bar.key);
  };
  const does = onOpen
    ? ({ role: "button", tabIndex: 0, onClick: () => onOpen(bar.key), onKeyDown: press } as const)
    : ({ role: "img" } as const);
  return (
    <g className={classes.bar} data-hue={bar.hue} data-open={isOpen || undefined} aria-label={bar.title} {...does}>
      <title>{bar.title}</title>
      <rect x={left - 5} y={middle - 15} width={right - left + 10} height={30} fill="transparent" />
      {since !== undefined && since < left - 1 && (
        <line className={classes.wait} x1={since} x2={left} y1={middle} y2={middle} />
      )}
      <rect
        className={bar.isToCome ? classes.coming : classes.fill}
        x={left}
        y={middle - BAR / 2}
        width={right - left}
        height={BAR}
        rx={2}
      />
      {(bar.hue === "bad" || bar.hue === "look") && !bar.isToCome && right - left > 1 && (
        <rect className={classes.gap} x={left} y={middle - 1} width={right - left} height={2} />
      )}
      {bar.word && (
        <text x={isWordAbove ? left : right + 6} y={isWordAbove ? middle - BAR / 2 - 4 : middle + 4}>
          {bar.word}
        </text>
      )}
    </g>
  );
}

interface Box {
  left: number;
  right: number;
  middle: number;
}

/** A line from the end of a bar to the begin of another one. */
function elbow(from: Box, to: Box): string {
  if (from.middle === to.middle) return `M${from.right} ${from.middle}H${to.left}`;
  const turn = Math.max(from.right + 3, to.left - 6);
  return `M${from.right} ${from.middle}H${turn}V${to.middle}H${to.left}`;
}

const LETTER = 7;

function shortened(word: string, room: number): string {
  const most = Math.floor(room / LETTER);
  return word.length > most ? `${word.slice(0, most - 1)}…` : word;
}
