/** Ranks: the longest path from the first steps. Pure. */

export interface Link {
  from: number;
  to: number;
}

/** Return the rank of each node. Links that close a circle are ignored: a broken graph is drawn as well. */
export function ranksOf(count: number, links: readonly Link[]): Int32Array {
  const ranks = new Int32Array(count);
  const open = new Int32Array(count);
  const outgoing = outgoingOf(count, links);
  for (const { to } of links) open[to] = at(open, to) + 1;
  const isDone = new Uint8Array(count);
  const ready: number[] = [];
  for (let node = 0; node < count; node++) if (at(open, node) === 0) ready.push(node);
  let next = 0;
  let firstOpen = 0;
  for (let done = 0; done < count; done++) {
    while (next === ready.length) {
      // Only circles are left: begin at the first node of one.
      if (!isDone[firstOpen]) ready.push(firstOpen);
      firstOpen++;
    }
    const node = ready[next++] as number;
    if (isDone[node]) {
      done--;
      continue;
    }
    isDone[node] = 1;
    for (const to of outgoing[node] ?? []) {
      if (isDone[to]) continue;
      ranks[to] = Math.max(at(ranks, to), at(ranks, node) + 1);
      open[to] = at(open, to) - 1;
      if (at(open, to) === 0) ready.push(to);
    }
  }
  return ranks;
}

function outgoingOf(count: number, links: readonly Link[]): number[][] {
  const outgoing: number[][] = Array.from({ length: count }, () => []);
  for (const { from, to } of links) outgoing[from]?.push(to);
  return outgoing;
}

/** Return a value of an array that has it. */
export function at(values: ArrayLike<number>, index: number): number {
  return values[index] as number;
}
