/** The order of nodes in their rows: barycentre sweeps, down and up, keeping the order with the fewest crossings. Pure. */
import type { Layers } from "./layers";
import { at } from "./ranks";

const SWEEPS = { few: 4, many: 24 };
const MANY_NODES = 2_000;

export function orderRows(layers: Layers): void {
  const { rows, total } = layers;
  const place = new Float64Array(total);
  const setPlaces = () => {
    for (const row of rows) for (let index = 0; index < row.length; index++) place[row[index] as number] = index;
  };
  setPlaces();
  let best = rows.map((row) => [...row]);
  let fewest = crossings(layers, place);
  const sweeps = total > MANY_NODES ? SWEEPS.few : SWEEPS.many;
  for (let sweep = 0; sweep < sweeps && fewest > 0; sweep++) {
    const isDown = sweep % 2 === 0;
    for (let step = 1; step < rows.length; step++) {
      const row = rows[isDown ? step : rows.length - 1 - step] as number[];
      sortRow(row, isDown ? layers.up : layers.down, place);
    }
    const count = crossings(layers, place);
    if (count < fewest) {
      fewest = count;
      best = rows.map((row) => [...row]);
    }
  }
  layers.rows = best;
}

/** Sort a row by the mean place of the neighbours of its nodes. Nodes without neighbours stay where they are. */
function sortRow(row: number[], neighbours: number[][], place: Float64Array): void {
  const weights = row.map((node, index) => {
    const near = neighbours[node] as number[];
    if (near.length === 0) return { node, weight: index };
    let sum = 0;
    for (const one of near) sum += at(place, one);
    return { node, weight: sum / near.length };
  });
  weights.sort((a, b) => a.weight - b.weight);
  for (let index = 0; index < row.length; index++) {
    const { node } = weights[index] as { node: number };
    row[index] = node;
    place[node] = index;
  }
}

/** Count the crossings between all rows, with a tree of sums for each pair of rows. */
export function crossings({ rows, down }: Layers, place: Float64Array): number {
  let count = 0;
  for (let index = 0; index + 1 < rows.length; index++) {
    const width = (rows[index + 1] as number[]).length;
    const tree = new Int32Array(width + 1);
    let seen = 0;
    for (const node of rows[index] as number[]) {
      const ends = (down[node] as number[]).map((to) => at(place, to));
      for (const end of ends) count += seen - sumTo(tree, end);
      for (const end of ends) add(tree, end);
      seen += ends.length;
    }
  }
  return count;
}

/** How many ends are at or left of a place. */
function sumTo(tree: Int32Array, end: number): number {
  let sum = 0;
  for (let index = end + 1; index > 0; index -= index & -index) sum += at(tree, index);
  return sum;
}

function add(tree: Int32Array, end: number): void {
  for (let index = end + 1; index < tree.length; index += index & -index) tree[index] = at(tree, index) + 1;
}
