/** How edges look: their curve, their label, and whether they were followed. Pure. */
import type { PlacedEdge } from "./layout";
import type { NodeState } from "./types";

/** plain: no execution; idle: to come; done: followed; live: its step runs; unused: its step was skipped. */
export type EdgeLook = "plain" | "idle" | "done" | "live" | "unused";

const RUNS = new Set(["running", "cancelling"]);

export function lookOf(from: NodeState | undefined, to: NodeState | undefined): EdgeLook {
  if (!to) return "plain";
  if (to.status === "skipped") return "unused";
  if (RUNS.has(to.status)) return "live";
  // A step with several parents: a parent that was skipped did not lead to it.
  if (from?.status === "skipped") return "unused";
  return to.isToCome ? "idle" : "done";
}

const WORDS: Record<string, string> = {
  failure: "on failure",
  complete: "in any case",
  skipped: "if skipped",
};

/** Return the label of an edge, "" for plain success. */
export function labelOf(edge: Pick<PlacedEdge, "words" | "isToFinal">): string {
  if (edge.isToFinal) return "";
  return WORDS[edge.words] ?? edge.words;
}

/** Return whether an edge leads on although the step before did not succeed. */
export function isForFailure(edge: Pick<PlacedEdge, "when">): boolean {
  return edge.when.length > 0 && !edge.when.includes("success") && !edge.when.includes("complete");
}

type Point = readonly [x: number, y: number];

/** Return the path of an edge: curves from row to row, straight through the rows that it crosses. */
export function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let path = `M${round(first[0])} ${round(first[1])}`;
  let before = first;
  rest.forEach((point, index) => {
    const isThroughRow = index % 2 === 1 && index < rest.length - 1;
    if (isThroughRow || point[0] === before[0]) path += `L${round(point[0])} ${round(point[1])}`;
    else {
      const middle = (before[1] + point[1]) / 2;
      path += `C${round(before[0])} ${round(middle)} ${round(point[0])} ${round(middle)} ${round(point[0])} ${round(point[1])}`;
    }
    before = point;
  });
  return path;
}

/** Return the straight path of an edge, for small scales. */
export function line(points: readonly Point[]): string {
  return points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join("");
}

/** Return where the label of an edge is: on its last curve, nearer to the step that follows. */
export function labelPlace(points: readonly Point[]): Point {
  const [from, to] = [points.at(-2) ?? [0, 0], points.at(-1) ?? [0, 0]];
  const t = 0.6;
  const blend = t * t * (3 - 2 * t);
  return [from[0] + (to[0] - from[0]) * blend, from[1] + (to[1] - from[1]) * t];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
