/** From steps to places: ranks, dummy nodes, order, coordinates. Pure and deterministic. */
import { middles } from "./coordinates";
import { layersOf } from "./layers";
import { orderRows } from "./order";
import { at, type Link, ranksOf } from "./ranks";
import type { GraphStep } from "./types";

export const NODE_WIDTH = 176;
export const NODE_HEIGHT = 56;
const GAP = { beside: 16, below: 44 };
const DUMMY_WIDTH = 8;
/** With more ends than this, the links to the final step are left out: it says itself that it runs in any case. */
const MOST_FINAL_LINKS = 8;
/** Steps without any link are put into a block of rows this wide. */
const BLOCK_WIDTH = 12;

export interface PlacedNode {
  index: number;
  step: GraphStep;
  x: number;
  y: number;
  width: number;
  height: number;
  rank: number;
}

export interface PlacedEdge {
  from: number;
  to: number;
  /** The condition in words, "" for plain success. */
  words: string;
  when: readonly string[];
  /** Points from the lower middle of `from` to the upper middle of `to`. */
  points: readonly [x: number, y: number][];
  isToFinal: boolean;
}

export interface GraphLayout {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  width: number;
  height: number;
}

interface WordedLink extends Link {
  words: string;
  when: readonly string[];
  isToFinal: boolean;
}

/** Place steps. `heightOf`: the height of the node of a step, which is higher if it is folded out. */
export function layoutOf(steps: readonly GraphStep[], heightOf: (step: GraphStep) => number): GraphLayout {
  const links = linksOf(steps);
  const ranks = ranksOf(steps.length, links);
  const isLinked = new Uint8Array(steps.length);
  for (const { from, to } of links) isLinked[from] = isLinked[to] = 1;
  placeFinal(steps, ranks);
  placeAlone(steps, ranks, isLinked);
  const layers = layersOf(steps.length, links, ranks);
  orderRows(layers);
  const widths = new Float64Array(layers.total).fill(DUMMY_WIDTH).fill(NODE_WIDTH, 0, steps.length);
  const middle = middles(layers, widths, GAP.beside);
  const tops: number[] = [];
  const heights: number[] = [];
  let bottom = 0;
  for (const row of layers.rows) {
    const height = Math.max(0, ...row.map((node) => (node < steps.length ? heightOf(steps[node] as GraphStep) : 0)));
    tops.push(bottom);
    heights.push(height);
    bottom += height + GAP.below;
  }
  let [left, right] = [0, NODE_WIDTH];
  if (steps.length > 0) {
    [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let node = 0; node < layers.total; node++) {
      left = Math.min(left, at(middle, node) - at(widths, node) / 2);
      right = Math.max(right, at(middle, node) + at(widths, node) / 2);
    }
  }
  const nodes = steps.map((step, index): PlacedNode => {
    const rank = at(ranks, index);
    const height = heightOf(step);
    const y = (tops[rank] as number) + ((heights[rank] as number) - height) / 2;
    const x = Math.round(at(middle, index) - NODE_WIDTH / 2 - left);
    return { index, step, x, y: Math.round(y), width: NODE_WIDTH, height, rank };
  });
  const edges = links.map((link, number): PlacedEdge => {
    const [from, to] = [nodes[link.from] as PlacedNode, nodes[link.to] as PlacedNode];
    const points: [number, number][] = [[from.x + NODE_WIDTH / 2, from.y + from.height]];
    for (const dummy of layers.paths[number] ?? []) {
      const rank = at(layers.rank, dummy);
      const x = at(middle, dummy) - left;
      points.push([x, tops[rank] as number], [x, (tops[rank] as number) + (heights[rank] as number)]);
    }
    points.push([to.x + NODE_WIDTH / 2, to.y]);
    return { from: link.from, to: link.to, words: link.words, when: link.when, points, isToFinal: link.isToFinal };
  });
  return { nodes, edges, width: right - left, height: Math.max(NODE_HEIGHT, bottom - GAP.below) };
}

/** Return the links between steps. One to a step that does not exist is left out. */
function linksOf(steps: readonly GraphStep[]): WordedLink[] {
  const places = new Map<string, number>();
  steps.forEach((step, index) => {
    if (!places.has(step.name)) places.set(step.name, index);
  });
  const links: WordedLink[] = [];
  const hasNext = new Set<number>();
  steps.forEach((step, to) => {
    for (const edge of step.after) {
      const from = places.get(edge.step);
      if (from === undefined || from === to) continue;
      hasNext.add(from);
      const words = edge.words ?? edge.when.join(" or ");
      links.push({ from, to, words: words === "success" ? "" : words, when: edge.when, isToFinal: false });
    }
  });
  const last = steps.findIndex((step) => step.is_final);
  const ends = steps.map((_, index) => index).filter((index) => index !== last && !hasNext.has(index));
  if (last >= 0 && steps[last]?.after.length === 0 && ends.length <= MOST_FINAL_LINKS)
    for (const from of ends) links.push({ from, to: last, words: "", when: ["complete"], isToFinal: true });
  return links;
}

/** The final step is below all others. */
function placeFinal(steps: readonly GraphStep[], ranks: Int32Array): void {
  const last = steps.findIndex((step) => step.is_final);
  if (last < 0) return;
  let lowest = -1;
  for (let index = 0; index < steps.length; index++) if (index !== last) lowest = Math.max(lowest, at(ranks, index));
  ranks[last] = lowest + 1;
}

/** Many steps without links become a block, not one long row. */
function placeAlone(steps: readonly GraphStep[], ranks: Int32Array, isLinked: Uint8Array): void {
  let place = 0;
  for (let index = 0; index < steps.length; index++)
    if (!isLinked[index] && !steps[index]?.is_final) ranks[index] = Math.floor(place++ / BLOCK_WIDTH);
  placeFinal(steps, ranks);
}
