/** Layers: the nodes of each rank, with a dummy node on each rank that a long link crosses. Pure. */
import { at, type Link } from "./ranks";

/** More dummy nodes than this make the layout slow: the longest links are drawn straight then. */
const MOST_DUMMIES = 12_000;

export interface Layers {
  /** Nodes of each rank, in their order from left to right. Numbers from `count` on are dummies. */
  rows: number[][];
  /** Real nodes. */
  count: number;
  /** Real nodes and dummies. */
  total: number;
  rank: Int32Array;
  up: number[][];
  down: number[][];
  /** For each link: the dummies that it runs through, from top to bottom. null: it is drawn straight. */
  paths: (number[] | null)[];
}

export function layersOf(count: number, links: readonly Link[], ranks: Int32Array): Layers {
  const longest = longestSpan(links, ranks);
  const rows: number[][] = [];
  const rank: number[] = Array.from(ranks);
  const up: number[][] = Array.from({ length: count }, () => []);
  const down: number[][] = Array.from({ length: count }, () => []);
  const join = (from: number, to: number) => {
    down[from]?.push(to);
    up[to]?.push(from);
  };
  const paths = links.map(({ from, to }) => {
    const span = at(ranks, to) - at(ranks, from);
    if (span < 1 || span > longest) return null;
    const path: number[] = [];
    let before = from;
    for (let step = 1; step < span; step++) {
      const dummy = rank.length;
      rank.push(at(ranks, from) + step);
      up.push([]);
      down.push([]);
      join(before, dummy);
      path.push(dummy);
      before = dummy;
    }
    join(before, to);
    return path;
  });
  const layers = { rows, count, total: rank.length, rank: Int32Array.from(rank), up, down, paths };
  fill(layers);
  return layers;
}

/** Put nodes into rows in the order in which a walk from the first ones finds them, so that families stay together. */
function fill({ rows, total, rank, up, down }: Layers): void {
  const isPlaced = new Uint8Array(total);
  const walk = (first: number) => {
    const stack = [first];
    while (stack.length > 0) {
      const node = stack.pop() as number;
      if (isPlaced[node]) continue;
      isPlaced[node] = 1;
      const row = at(rank, node);
      while (rows.length <= row) rows.push([]);
      rows[row]?.push(node);
      const next = down[node] ?? [];
      for (let index = next.length - 1; index >= 0; index--) stack.push(next[index] as number);
    }
  };
  for (let node = 0; node < total; node++) if (up[node]?.length === 0) walk(node);
  for (let node = 0; node < total; node++) walk(node);
}

/** Return the longest span that gets dummies. */
function longestSpan(links: readonly Link[], ranks: Int32Array): number {
  const spans = links.map(({ from, to }) => at(ranks, to) - at(ranks, from)).sort((a, b) => a - b);
  let dummies = 0;
  let longest = 1;
  for (const span of spans) {
    dummies += Math.max(0, span - 1);
    if (dummies > MOST_DUMMIES) break;
    longest = Math.max(longest, span);
  }
  return longest;
}
