import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { anchorOf, barOf, type Geometry, heightOf, isStuck, lastTop, moved, ROW, shownAround, topFor } from "./scroll";

/** After so long without a movement the bar is put where it belongs. */
const IDLE = 150;
const FIRST_VIEW = 360;

export interface LogScroll {
  viewport: RefObject<HTMLDivElement | null>;
  /** The element with the rendered lines. */
  rows: RefObject<HTMLDivElement | null>;
  geometry: Geometry;
  height: number;
  first: number;
  last: number;
  /** The end stays in view when lines are added. */
  isFollowing: boolean;
  onScroll: () => void;
  /** The hand of the user moves away from the end. */
  onLeave: () => void;
  toLine: (line: number) => void;
  toTop: () => void;
  toEnd: () => void;
}

/** The place of a log that is in view. Only the lines around it are rendered. */
export function useLogScroll(total: number, isWrapped: boolean, startsAtEnd: boolean): LogScroll {
  const viewport = useRef<HTMLDivElement>(null);
  const rows = useRef<HTMLDivElement>(null);
  const { width, view } = useSize(viewport);
  const [average, setAverage] = useState(ROW);
  const [top, setTop] = useState(0);
  const [isFollowing, setFollowing] = useState(startsAtEnd);
  const [, setIdle] = useState(0);
  const bar = useRef(0);
  const movedAt = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const geometry: Geometry = { total, view, row: isWrapped ? average : ROW };
  const end = lastTop(geometry);
  const at = isFollowing ? end : Math.min(top, end);
  const anchor = anchorOf(at, geometry);
  const { first, last } = shownAround(anchor, geometry);
  const latest = useRef({ geometry, at });
  latest.current = { geometry, at };

  // Put the anchor at its pixel, with the real heights of the lines.
  useLayoutEffect(() => {
    const element = rows.current;
    if (!element) return;
    const index = Math.min(Math.floor(anchor.line), total - 1) + 1 - first;
    const row = element.children[index] as HTMLElement | undefined;
    const inside = anchor.line - (first - 1 + index);
    const place = row ? row.offsetTop + inside * row.offsetHeight : 0;
    element.style.transform = `translateY(${Math.round(anchor.y - place)}px)`;
  });

  // The average height of wrapped lines: exact if all are rendered, else measured once for a width.
  const measuredFor = useRef("");
  useLayoutEffect(() => {
    if (!isWrapped || !rows.current || total === 0) return;
    const isWhole = first === 1 && last === total;
    const key = `${width} ${isWhole}`;
    if (!isWhole && measuredFor.current === key) return;
    measuredFor.current = key;
    const measured = Math.max(ROW, rows.current.offsetHeight / (last - first + 1));
    if (Math.abs(measured - average) * total > 1) setAverage(measured);
  });

  // Put the bar where it belongs, but not under the hand of the user.
  useLayoutEffect(() => {
    const element = viewport.current;
    if (!element) return;
    const isMoving = performance.now() - movedAt.current < IDLE;
    if (isMoving && !isFollowing && !isStuck(at, element.scrollTop, geometry)) return;
    const wanted = barOf(at, geometry);
    if (Math.abs(element.scrollTop - wanted) > 1) element.scrollTop = wanted;
    bar.current = element.scrollTop;
  });

  const onScroll = useCallback(() => {
    const element = viewport.current;
    if (!element || Math.abs(element.scrollTop - bar.current) < 1) return;
    const { geometry: now, at: before } = latest.current;
    const next = moved(before, bar.current, element.scrollTop, now);
    bar.current = element.scrollTop;
    movedAt.current = performance.now();
    latest.current.at = next;
    setTop(next);
    setFollowing(next >= lastTop(now) - 0.1);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setIdle((count) => count + 1), IDLE + 10);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);

  const jump = useCallback((to: (geometry: Geometry) => number, follow: boolean) => {
    movedAt.current = 0;
    setTop(to(latest.current.geometry));
    setFollowing(follow);
  }, []);
  return {
    viewport,
    rows,
    geometry,
    height: heightOf(geometry),
    first,
    last,
    isFollowing,
    onScroll,
    onLeave: useCallback(() => {
      const { geometry: now, at: place } = latest.current;
      if (lastTop(now) === 0) return;
      setTop(place);
      setFollowing(false);
    }, []),
    toLine: useCallback((line: number) => jump((now) => topFor(line, now, isWrapped), false), [jump, isWrapped]),
    toTop: useCallback(() => jump(() => 0, false), [jump]),
    toEnd: useCallback(() => jump((now) => lastTop(now), true), [jump]),
  };
}

function useSize(element: RefObject<HTMLDivElement | null>): { width: number; view: number } {
  const [size, setSize] = useState({ width: 0, view: FIRST_VIEW });
  const measure = useCallback(() => {
    const viewport = element.current;
    if (!viewport) return;
    const now = { width: viewport.clientWidth, view: viewport.clientHeight || FIRST_VIEW };
    setSize((before) => (now.width === before.width && now.view === before.view ? before : now));
  }, [element]);
  // The box grows with a short log. It is measured before it is painted, so that no line jumps.
  useLayoutEffect(measure);
  useEffect(() => {
    if (!element.current || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(measure);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, measure]);
  return size;
}
