/**
 * Places from left to right: each node wants to be at the median of its neighbours. Each row is solved exactly: the
 * places that are nearest to the wishes, in the order of the row and with room between them (pool adjacent violators).
 * Pure.
 */
import type { Layers } from "./layers";
import { at } from "./ranks";

const PASSES = { few: 6, many: 16 };
const MANY_NODES = 2_000;
/** Long links are straight where they can be. */
const DUMMY_WEIGHT = 4;
/** A node without neighbours goes where there is room, near the middle. */
const ALONE_WEIGHT = 0.05;

/** Return the middle of each node. */
export function middles(layers: Layers, widths: ArrayLike<number>, gap: number): Float64Array {
  const { rows, total, count, up, down } = layers;
  const x = new Float64Array(total);
  const isAlone = (node: number) => at2(up, node).length === 0 && at2(down, node).length === 0;
  const weight = (node: number) => (node >= count ? DUMMY_WEIGHT : isAlone(node) ? ALONE_WEIGHT : 1);
  const room = (left: number, right: number) => {
    const isNarrow = left >= count || right >= count;
    return (at(widths, left) + at(widths, right)) / 2 + (isNarrow ? gap / 2 : gap);
  };
  for (const row of rows) {
    let end = 0;
    row.forEach((node, index) => {
      end += index === 0 ? 0 : room(row[index - 1] as number, node);
      x[node] = end;
    });
    for (const node of row) x[node] = at(x, node) - end / 2;
  }
  const passes = total > MANY_NODES ? PASSES.few : PASSES.many;
  for (let pass = 0; pass < passes; pass++) {
    const isDown = pass % 2 === 0;
    const isLast = pass >= passes - 2;
    for (let step = 0; step < rows.length; step++) {
      const row = rows[isDown ? step : rows.length - 1 - step] as number[];
      const wishes = row.map((node) => {
        const near = isLast ? [...at2(up, node), ...at2(down, node)] : at2(isDown ? up : down, node);
        if (isAlone(node)) return 0;
        return near.length === 0 ? at(x, node) : median(near.map((one) => at(x, one)));
      });
      placeRow(row, wishes, x, weight, room);
    }
  }
  return x;
}

interface Block {
  /** Weighted sum of wishes, each less the offset of its node in the block. */
  sum: number;
  weight: number;
  first: number;
}

function placeRow(
  row: readonly number[],
  wishes: readonly number[],
  x: Float64Array,
  weight: (node: number) => number,
  room: (left: number, right: number) => number,
): void {
  const offsets: number[] = [];
  const blocks: Block[] = [];
  row.forEach((node, index) => {
    offsets.push(index === 0 ? 0 : (offsets[index - 1] as number) + room(row[index - 1] as number, node));
    const wish = (wishes[index] as number) - (offsets[index] as number);
    let block: Block = { sum: wish * weight(node), weight: weight(node), first: index };
    let before = blocks.at(-1);
    while (before && before.sum / before.weight >= block.sum / block.weight) {
      blocks.pop();
      block = { sum: before.sum + block.sum, weight: before.weight + block.weight, first: before.first };
      before = blocks.at(-1);
    }
    blocks.push(block);
  });
  blocks.forEach((block, number) => {
    const end = blocks[number + 1]?.first ?? row.length;
    for (let index = block.first; index < end; index++)
      x[row[index] as number] = block.sum / block.weight + (offsets[index] as number);
  });
}

function median(values: number[]): number {
  values.sort((a, b) => a - b);
  const middle = values.length >> 1;
  return values.length % 2 === 1
    ? (values[middle] as number)
    : ((values[middle - 1] as number) + (values[middle] as number)) / 2;
}

function at2(lists: readonly number[][], index: number): number[] {
  return lists[index] as number[];
}
