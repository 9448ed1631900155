/** What part of a graph is in view, and how large it is drawn. Pure. */
import type { GraphLayout, PlacedEdge, PlacedNode } from "./layout";

export interface View {
  /** Where the corner of the graph is, in pixels of the screen. */
  x: number;
  y: number;
  /** The scale. */
  k: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export const SCALES = { least: 0.02, most: 2 };
/** Below this scale names cannot be read: nodes are drawn as coloured blocks. */
export const BLOCKS_BELOW = 0.32;
const PADDING = 28;
/** What is in view is computed for cells, so that a drag of some pixels changes nothing but a transform. */
const CELL = 400;

/** Return the view that shows all of the graph, not larger than its natural size. */
export function whole(graph: Size, screen: Size): View {
  const k = clamp(
    Math.min((screen.width - 2 * PADDING) / graph.width, (screen.height - 2 * PADDING) / graph.height, 1),
  );
  return { k, x: (screen.width - graph.width * k) / 2, y: Math.max(PADDING, (screen.height - graph.height * k) / 2) };
}

/** Return the view with another scale, in which a point of the screen stays where it is. */
export function zoom(view: View, factor: number, at: { x: number; y: number }): View {
  const k = clamp(view.k * factor);
  return { k, x: at.x - ((at.x - view.x) / view.k) * k, y: at.y - ((at.y - view.y) / view.k) * k };
}

/** Return the view moved just so far that a node is in it. */
export function bringIntoView(view: View, node: PlacedNode, screen: Size): View {
  const k = Math.max(view.k, BLOCKS_BELOW * 1.8);
  const from = k === view.k ? view : zoom(view, k / view.k, { x: screen.width / 2, y: screen.height / 2 });
  const [left, top] = [from.x + node.x * k, from.y + node.y * k];
  return {
    k,
    x: from.x + shift(left, left + node.width * k, screen.width),
    y: from.y + shift(top, top + node.height * k, screen.height),
  };
}

function shift(begin: number, end: number, size: number): number {
  if (begin < PADDING) return PADDING - begin;
  return end > size - PADDING ? Math.max(size - PADDING - end, PADDING - begin) : 0;
}

/** Return the view at the natural size with a node in the upper middle. */
export function focusOn(node: PlacedNode, screen: Size, k: number): View {
  return {
    k,
    x: screen.width / 2 - (node.x + node.width / 2) * k,
    y: Math.max(PADDING, screen.height * 0.3) - node.y * k,
  };
}

/** Return the part of the graph to draw: what is in view, and some more around it, in whole cells. */
export function drawnBox(view: View, screen: Size): Box {
  const cell = CELL / view.k;
  const down = (value: number) => (Math.floor(value / cell) - 0.5) * cell;
  const up = (value: number) => (Math.ceil(value / cell) + 0.5) * cell;
  return {
    left: down(-view.x / view.k),
    top: down(-view.y / view.k),
    right: up((screen.width - view.x) / view.k),
    bottom: up((screen.height - view.y) / view.k),
  };
}

export function isNodeIn(node: PlacedNode, box: Box): boolean {
  return node.x < box.right && node.x + node.width > box.left && node.y < box.bottom && node.y + node.height > box.top;
}

export function isEdgeIn(edge: PlacedEdge, box: Box): boolean {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of edge.points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return left < box.right && right > box.left && top < box.bottom && bottom > box.top;
}

export type Way = "up" | "down" | "left" | "right";

/** Return the node that an arrow key goes to: the nearest of the rows above or below, or the next in the row. */
export function neighbour(layout: GraphLayout, from: PlacedNode, way: Way): PlacedNode | undefined {
  const isAcross = way === "left" || way === "right";
  const isForward = way === "right" || way === "down";
  let best: PlacedNode | undefined;
  let least = Infinity;
  for (const node of layout.nodes) {
    if (node === from) continue;
    const [dx, dy] = [node.x - from.x, node.rank - from.rank];
    if (isAcross ? dy !== 0 || dx > 0 !== isForward : dy === 0 || dy > 0 !== isForward) continue;
    const distance = isAcross ? Math.abs(dx) : Math.abs(dy) * 100_000 + Math.abs(dx);
    if (distance < least) [best, least] = [node, distance];
  }
  return best;
}

function clamp(k: number): number {
  return Math.min(SCALES.most, Math.max(SCALES.least, k));
}
