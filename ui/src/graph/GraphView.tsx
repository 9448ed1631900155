import { ActionIcon, Button } from "@mantine/core";
import { IconMinus, IconPlus } from "@tabler/icons-react";
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useKeys } from "@/shell/keys";
import { counted } from "@/time/format";
import { Blocks } from "./Blocks";
import { Edges } from "./Edges";
import classes from "./graph.module.css";
import { type GraphLayout, layoutOf, type PlacedNode } from "./layout";
import { heightOf, Node } from "./Node";
import type { GraphStep, NodeItem, NodeState } from "./types";
import { usePanZoom } from "./usePanZoom";
import {
  BLOCKS_BELOW,
  bringIntoView,
  drawnBox,
  focusOn,
  isEdgeIn,
  isNodeIn,
  neighbour,
  type Size,
  type View,
  type Way,
  whole,
  zoom,
} from "./view";

const PADDING = 28;
const BORDERS = 2;
const READABLE = 0.6;
const FOCUSED = 0.85;
/** A graph of more steps is first shown as a whole. */
const OVERVIEW_FROM = 200;
const WAYS: Record<string, Way> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };

interface Props {
  /** A WorkflowStepView of the API fits. Keep the same array while nothing changes. */
  steps: readonly GraphStep[];
  /** What is known of the steps in an execution, by name. Without it, the definition is drawn. */
  states?: ReadonlyMap<string, NodeState> | undefined;
  /** The items of fanouts that are folded out, by the name of the step. */
  items?: ReadonlyMap<string, readonly NodeItem[]> | undefined;
  /** The chosen step. */
  selected?: string | undefined;
  onSelect?: ((name: string) => void) | undefined;
  /** Called to fold a fanout out or in. Without it, fanouts do not fold. */
  onFold?: ((name: string) => void) | undefined;
  /** For screen readers: "Graph of nightly-etl". */
  label: string;
  /** The largest height in pixels; a small graph is less high. */
  most?: number;
}

/** A graph of steps in layers, that can be moved, scaled and walked through with arrows. */
export function GraphView({ steps, states, items, selected, onSelect, onFold, label, most = 760 }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const layout = useMemo(() => layoutOf(steps, (step) => heightOf(step, states, items)), [steps, states, items]);
  const { view, setView, size, wasDragged, pointer } = usePanZoom(box);
  const [current, setCurrent] = useState<string>();
  useFirstView(layout, size, states, selected, setView);
  const fitAll = useCallback(() => setView(whole(layout, size)), [layout, size, setView]);
  useKeys({ fit: fitAll });

  const drawn = useDrawn(layout, view, size);
  const areBlocks = view.k < BLOCKS_BELOW;
  const place = selected ?? current ?? layout.nodes[0]?.step.name;
  const focusWanted = useRef<string | undefined>(undefined);
  const go = (node: PlacedNode | undefined) => {
    if (!node) return;
    focusWanted.current = node.step.name;
    setCurrent(node.step.name);
    setView((old) => bringIntoView(old, node, size));
    if (selected !== undefined) onSelect?.(node.step.name);
  };
  useEffect(() => {
    // A node that was out of view is drawn first, then it gets the focus.
    const name = focusWanted.current;
    const button = name && box.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(name)}"]`);
    if (!button) return;
    button.focus({ preventScroll: true });
    focusWanted.current = undefined;
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const way = WAYS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "-") zoomBy(event.key === "+" ? 1.25 : 0.8);
    else if (way && event.shiftKey) setView((old) => moved(old, way));
    else if (way) {
      const name = (event.target as HTMLElement).dataset?.step ?? place;
      const from = layout.nodes.find((node) => node.step.name === name);
      go(from && event.target !== box.current ? neighbour(layout, from, way) : from);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const zoomBy = (factor: number) => setView((old) => zoom(old, factor, { x: size.width / 2, y: size.height / 2 }));
  const select = (name: string) => {
    if (wasDragged.current) return;
    setCurrent(name);
    onSelect?.(name);
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be drawn
    <div
      ref={box}
      className={classes.graph}
      style={{ height: Math.min(most, layout.height * scaleOf(layout, size) + 2 * PADDING + BORDERS) }}
      role="group"
      aria-label={`${label}, ${counted(steps.length, "step")}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to move in it
      tabIndex={0}
      onKeyDown={onKeyDown}
      {...pointer}
    >
      <div className={classes.sheet} style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.k})` }}>
        {areBlocks ? (
          <Blocks layout={layout} states={states} onSelect={onSelect && select} selected={selected} />
        ) : (
          <>
            <Edges layout={layout} edges={drawn.edges} states={states} />
            {drawn.nodes.map((node) => (
              <Node
                key={node.index}
                node={node}
                state={states?.get(node.step.name)}
                hasStates={states !== undefined}
                items={items?.get(node.step.name)}
                isSelected={node.step.name === selected}
                isTabStop={node.step.name === place}
                onSelect={onSelect && select}
                onFold={onFold}
              />
            ))}
          </>
        )}
      </div>
      <div className={classes.tools}>
        <ActionIcon aria-label="Zoom out" onClick={() => zoomBy(0.8)}>
          <IconMinus size={14} />
        </ActionIcon>
        <ActionIcon aria-label="Zoom in" onClick={() => zoomBy(1.25)}>
          <IconPlus size={14} />
        </ActionIcon>
        <Button size="compact-xs" onClick={fitAll} aria-label="Fit the graph into view">
          Fit
        </Button>
      </div>
    </div>
  );
}

/**
 * Show the whole graph if it can be read, or is so large that only a part could; else the step that matters now. When
 * the width changes, for example by a drawer, show it anew; after the reader has moved it, keep its middle.
 */
function useFirstView(
  layout: GraphLayout,
  size: Size,
  states: ReadonlyMap<string, NodeState> | undefined,
  selected: string | undefined,
  setView: (change: View | ((view: View) => View)) => void,
): void {
  const shown = useRef<{ shape: string; width: number; height: number; view: View } | undefined>(undefined);
  const shape = `${layout.nodes.length} ${layout.width}`;
  useEffect(() => {
    const before = shown.current;
    if (size.width === 0 || (before?.shape === shape && before.width === size.width && before.height === size.height))
      return;
    const all = whole(layout, size);
    const node = importantNode(layout, states, selected);
    const isWhole = all.k >= READABLE || layout.nodes.length > OVERVIEW_FROM || !node;
    const first = isWhole ? all : focusOn(node, size, FOCUSED);
    shown.current = { shape, ...size, view: first };
    setView((old) => {
      if (before?.shape !== shape || old === before.view) return first;
      return { ...old, x: old.x + (size.width - before.width) / 2 };
    });
  }, [shape, layout, size, states, selected, setView]);
}

/** The scale at which the graph fits into the width. Before the width is known: its natural size. */
function scaleOf(layout: GraphLayout, size: Size): number {
  if (size.width === 0) return 1;
  const k = Math.min(1, (size.width - 2 * PADDING) / layout.width);
  return k < READABLE && layout.nodes.length <= OVERVIEW_FROM ? FOCUSED : k;
}

function importantNode(
  layout: GraphLayout,
  states: ReadonlyMap<string, NodeState> | undefined,
  selected: string | undefined,
): PlacedNode | undefined {
  const has =
    (...wanted: string[]) =>
    (node: PlacedNode) =>
      wanted.includes(states?.get(node.step.name)?.status ?? "");
  return (
    layout.nodes.find((node) => node.step.name === selected) ??
    layout.nodes.find(has("failed", "timeout")) ??
    layout.nodes.find(has("running", "waits_for_approval", "cancelling")) ??
    layout.nodes[0]
  );
}

/** The nodes and edges to draw. They change only when another cell of the graph comes into view. */
function useDrawn(layout: GraphLayout, view: View, size: Size) {
  const { left, top, right, bottom } = drawnBox(view, size);
  return useMemo(() => {
    const box = { left, top, right, bottom };
    return {
      nodes: layout.nodes.filter((node) => isNodeIn(node, box)),
      edges: layout.edges.filter((edge) => isEdgeIn(edge, box)),
    };
  }, [layout, left, top, right, bottom]);
}

function moved(view: View, way: Way): View {
  const step = 80;
  const dx = way === "left" ? step : way === "right" ? -step : 0;
  const dy = way === "up" ? step : way === "down" ? -step : 0;
  return { ...view, x: view.x + dx, y: view.y + dy };
}
