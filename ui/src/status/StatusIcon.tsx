import type { ReactNode } from "react";
import { entryOf, type Glyph, type Hue, MARKS, type Mark } from "./table";

const line = { fill: "none", stroke: "currentColor", strokeLinecap: "round", strokeLinejoin: "round" } as const;
const onFill = { ...line, stroke: "var(--surface)", strokeWidth: 1.7 };
const ring = (width: number, dash?: string) => (
  <circle cx="8" cy="8" r="5.9" fill="none" stroke="currentColor" strokeWidth={width} strokeDasharray={dash} />
);
const openRing = (
  <circle cx="8" cy="8" r="5.8" {...line} strokeWidth="1.8" strokeDasharray="25 12" transform="rotate(-90 8 8)" />
);

/** The shapes, in a square of 16. */
const GLYPHS: Record<Glyph, ReactNode> = {
  check: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" />
      <path d="M5 8.2l2.1 2.1L11 6.2" {...onFill} />
    </>
  ),
  running: (
    <>
      {openRing}
      <circle cx="8" cy="8" r="2.1" fill="currentColor" />
    </>
  ),
  cancelling: (
    <>
      {openRing}
      <rect x="5.9" y="5.9" width="4.2" height="4.2" rx=".8" fill="currentColor" />
    </>
  ),
  half: (
    <>
      {ring(1.5)}
      <path d="M2.6 8.2a5.4 5.4 0 0 0 10.8 0z" fill="currentColor" />
    </>
  ),
  cross: (
    <>
      <rect x="1.75" y="1.75" width="12.5" height="12.5" rx="2.5" fill="currentColor" />
      <path d="M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8" {...onFill} />
    </>
  ),
  hourglass: <path d="M3 1.5h10v2.2L9.6 8l3.4 4.3v2.2H3v-2.2L6.4 8 3 3.7z" fill="currentColor" />,
  dotted: <circle cx="8" cy="8" r="5.9" {...line} strokeWidth="1.7" strokeDasharray="1.6 2.9" />,
  clock: (
    <>
      {ring(1.4)}
      <path d="M8 5v3.2l2 1.4" {...line} strokeWidth="1.4" />
    </>
  ),
  chevrons: <path d="M3 4l4 4-4 4M8.5 4l4 4-4 4" {...line} strokeWidth="1.8" />,
  stroke: (
    <>
      {ring(1.6)}
      <path d="M4.2 11.8l7.6-7.6" {...line} strokeWidth="1.6" />
    </>
  ),
  hollow: <rect x="4.4" y="1.6" width="7.2" height="12.8" rx="2" {...line} strokeWidth="1.8" />,
  foot: (
    <>
      <rect x="4.4" y="1.2" width="7.2" height="9.2" rx="1.6" fill="currentColor" />
      <rect x="2.6" y="12.4" width="10.8" height="2.4" rx="1.1" fill="currentColor" />
    </>
  ),
  bent: <path d="M3.2 3v7.2a2 2 0 0 0 2 2h7.6M10 9.4l2.9 2.8L10 15" {...line} strokeWidth="1.7" />,
  "bare-cross": <path d="M3.5 3.5l9 9M12.5 3.5l-9 9" {...line} strokeWidth="2.2" />,
  "contacts-closed": (
    <>
      <circle cx="3" cy="9" r="1.9" fill="currentColor" />
      <circle cx="13" cy="9" r="1.9" fill="currentColor" />
      <path d="M4 9h8" {...line} strokeWidth="1.8" />
    </>
  ),
  "contacts-half": (
    <>
      <circle cx="3" cy="11" r="1.9" fill="currentColor" />
      <circle cx="13" cy="11" r="1.9" {...line} strokeWidth="1.4" />
      <path d="M4.6 10.2L10.6 7.4" {...line} strokeWidth="1.8" />
    </>
  ),
  "contacts-open": (
    <>
      <circle cx="3" cy="11" r="1.9" fill="currentColor" />
      <circle cx="13" cy="11" r="1.9" fill="currentColor" />
      <path d="M4 9.8L10.6 4" {...line} strokeWidth="1.8" />
    </>
  ),
  diamond: (
    <>
      <path d="M8 1.6L14.4 8 8 14.4 1.6 8z" {...line} strokeWidth="1.6" />
      <circle cx="8" cy="8" r="1.7" fill="currentColor" />
    </>
  ),
  bars: (
    <>
      <rect x="3.8" y="3" width="3" height="10" rx="1" fill="currentColor" />
      <rect x="9.2" y="3" width="3" height="10" rx="1" fill="currentColor" />
    </>
  ),
};

interface GlyphProps {
  glyph: Glyph;
  hue: Hue;
  size?: number | undefined;
  /** The accessible name. Without it the shape is decoration beside a word. */
  label?: string | undefined;
}

/** One shape in its hue. */
export function GlyphIcon({ glyph, hue, size = 16, label }: GlyphProps) {
  const named = label ? ({ role: "img", "aria-label": label } as const) : ({ "aria-hidden": true } as const);
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: it has a label, or is hidden
    <svg className={hue} width={size} height={size} viewBox="0 0 16 16" style={{ flex: "none" }} {...named}>
      {GLYPHS[glyph]}
    </svg>
  );
}

interface Props {
  /** A status of a run or step, a state of a breaker, or "paused". */
  status: string;
  size?: number;
  /** True where no word stands beside it: the word becomes its accessible name. */
  alone?: boolean;
}

/** The icon of a status: `<StatusIcon status={run.status} alone />`. */
export function StatusIcon({ status, size, alone }: Props) {
  const entry = entryOf(status);
  return <GlyphIcon glyph={entry.glyph} hue={entry.hue} size={size} label={alone ? entry.word : undefined} />;
}

/** The icon of a mark of the tick strip. */
export function MarkIcon({ mark, size, alone }: { mark: Mark; size?: number; alone?: boolean }) {
  const entry = MARKS[mark];
  return <GlyphIcon glyph={entry.glyph} hue={entry.hue} size={size} label={alone ? entry.word : undefined} />;
}
