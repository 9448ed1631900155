/** Moves and scales a graph: drag, two fingers, wheel with Ctrl. */
import { type PointerEvent, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { type Size, type View, zoom } from "./view";

const DRAG_FROM = 4;

export interface PanZoom {
  view: View;
  setView: (change: View | ((view: View) => View)) => void;
  size: Size;
  /** True from the first pixels of a drag until the click that ends it. */
  wasDragged: RefObject<boolean>;
  pointer: {
    onPointerDown: (event: PointerEvent) => void;
    onPointerMove: (event: PointerEvent) => void;
    onPointerUp: (event: PointerEvent) => void;
    onPointerCancel: (event: PointerEvent) => void;
  };
}

export function usePanZoom(element: RefObject<HTMLDivElement | null>): PanZoom {
  const [view, setView] = useState<View>({ x: 0, y: 0, k: 1 });
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const wasDragged = useRef(false);
  const pointers = useRef(new Map<number, { x: number; y: number }>());

  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return;
    const measure = () => setSize({ width: box.clientWidth, height: box.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, [element]);

  useEffect(() => {
    const box = element.current;
    // Not passive: the page must not be zoomed by the browser as well.
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const at = placeIn(box, event);
      setView((old) => zoom(old, Math.exp(-event.deltaY * speedOf(event)), at));
    };
    box?.addEventListener("wheel", onWheel, { passive: false });
    return () => box?.removeEventListener("wheel", onWheel);
  }, [element]);

  const onPointerDown = useCallback((event: PointerEvent) => {
    if (event.button !== 0) return;
    wasDragged.current = false;
    pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }, []);
  const onPointerMove = useCallback(
    (event: PointerEvent) => {
      const before = pointers.current.get(event.pointerId);
      if (!before) return;
      const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
      if (!wasDragged.current) {
        if (Math.hypot(dx, dy) < DRAG_FROM) return;
        wasDragged.current = true;
        element.current?.setPointerCapture(event.pointerId);
      }
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
      pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (!other) return setView((old) => ({ ...old, x: old.x + dx, y: old.y + dy }));
      const factor =
        Math.hypot(event.clientX - other.x, event.clientY - other.y) /
        Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      const middle = placeIn(element.current, {
        clientX: (event.clientX + other.x) / 2,
        clientY: (event.clientY + other.y) / 2,
      });
      setView((old) => ({ ...zoom({ ...old, x: old.x + dx / 2, y: old.y + dy / 2 }, factor, middle) }));
    },
    [element],
  );
  const onPointerUp = useCallback((event: PointerEvent) => {
    pointers.current.delete(event.pointerId);
    // The click comes after this event.
    setTimeout(() => {
      wasDragged.current = false;
    });
  }, []);
  return {
    view,
    setView,
    size,
    wasDragged,
    pointer: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp },
  };
}

function placeIn(box: Element | null, at: { clientX: number; clientY: number }): { x: number; y: number } {
  const corner = box?.getBoundingClientRect();
  return { x: at.clientX - (corner?.left ?? 0), y: at.clientY - (corner?.top ?? 0) };
}

/** Two fingers on a trackpad send many small steps, a wheel sends few large ones. */
function speedOf({ deltaMode, deltaY }: WheelEvent): number {
  if (deltaMode === 1) return 0.05;
  return Math.abs(deltaY) < 40 ? 0.01 : 0.0025;
}
