import { describe, expect, it } from "vitest";
import { layersOf } from "./layers";
import { layoutOf, NODE_HEIGHT, NODE_WIDTH, type PlacedNode } from "./layout";
import { crossings, orderRows } from "./order";
import { ranksOf } from "./ranks";
import type { GraphStep } from "./types";

const step = (name: string, ...after: string[]): GraphStep => ({
  name,
  kind: "shell",
  after: after.map((one) => ({ step: one, when: ["success"], words: "success" })),
});
const height = () => NODE_HEIGHT;
const placed = (steps: GraphStep[]) => {
  const layout = layoutOf(steps, height);
  const byName = new Map(layout.nodes.map((node) => [node.step.name, node]));
  return { layout, at: (name: string) => byName.get(name) as PlacedNode };
};

describe("ranks", () => {
  it("are the longest paths", () => {
    const links = [
      { from: 0, to: 1 },
      { from: 1, to: 2 },
      { from: 0, to: 2 },
    ];
    expect([...ranksOf(3, links)]).toEqual([0, 1, 2]);
  });

  it("exist for a circle", () => {
    const links = [
      { from: 0, to: 1 },
      { from: 1, to: 2 },
      { from: 2, to: 1 },
      { from: 2, to: 3 },
    ];
    expect([...ranksOf(4, links)].every((rank) => rank >= 0 && rank < 4)).toBe(true);
  });
});

describe("order", () => {
  it("removes the crossings of two pairs", () => {
    const links = [
      { from: 0, to: 3 },
      { from: 1, to: 2 },
    ];
    const layers = layersOf(4, links, ranksOf(4, links));
    layers.rows = [
      [0, 1],
      [2, 3],
    ];
    orderRows(layers);
    const place = new Float64Array(4);
    for (const row of layers.rows) for (const [index, node] of row.entries()) place[node] = index;
    expect(crossings(layers, place)).toBe(0);
  });
});

describe("layout", () => {
  it("puts a chain straight below itself", () => {
    const { at } = placed([step("a"), step("b", "a"), step("c", "b")]);
    expect(new Set([at("a").x, at("b").x, at("c").x]).size).toBe(1);
    expect(at("a").y).toBeLessThan(at("b").y);
    expect(at("b").y).toBeLessThan(at("c").y);
  });

  it("centres a parent over its children", () => {
    const { at } = placed([step("a"), step("left", "a"), step("right", "a")]);
    expect(at("a").x).toBeCloseTo((at("left").x + at("right").x) / 2, 0);
  });

  it("lets no two nodes overlap", () => {
    const { layout } = placed(random(400, 12));
    const ranks = new Set(layout.nodes.map((node) => node.rank));
    for (const rank of ranks) {
      const sorted = layout.nodes.filter((node) => node.rank === rank).sort((a, b) => a.x - b.x);
      for (let index = 1; index < sorted.length; index++) {
        const [before, node] = [sorted[index - 1] as PlacedNode, sorted[index] as PlacedNode];
        expect(node.x - before.x).toBeGreaterThanOrEqual(NODE_WIDTH);
      }
    }
  });

  it("leads a long edge around the nodes between", () => {
    const { layout, at } = placed([step("a"), step("b", "a"), step("c", "b", "a")]);
    const long = layout.edges.find((edge) => edge.points.length > 2);
    const b = at("b");
    expect(long).toBeDefined();
    for (const [x, y] of long?.points.slice(1, -1) ?? [])
      if (y >= b.y && y <= b.y + b.height) expect(x < b.x || x > b.x + b.width).toBe(true);
  });

  it("puts the final step below all others, with an edge from each end", () => {
    const steps = [step("clean-up"), step("a"), step("b", "a"), step("c", "a")];
    steps[0] = { ...(steps[0] as GraphStep), is_final: true };
    const { layout, at } = placed(steps);
    expect(at("clean-up").y).toBeGreaterThan(at("b").y);
    expect(layout.edges.filter((edge) => edge.isToFinal).length).toBe(2);
  });

  it("draws a graph with a circle, a missing step and a name twice", () => {
    const { layout } = placed([step("a", "b"), step("b", "a", "nowhere"), step("b"), step("c", "c")]);
    expect(layout.nodes.length).toBe(4);
    expect(layout.nodes.every((node) => Number.isFinite(node.x) && Number.isFinite(node.y))).toBe(true);
  });

  it("draws nothing for no steps", () => {
    expect(layoutOf([], height).nodes).toEqual([]);
  });

  it("gives the same places each time", () => {
    expect(layoutOf(random(200, 7), height)).toEqual(layoutOf(random(200, 7), height));
  });

  it("puts many steps without links into a block", () => {
    const { layout } = placed(Array.from({ length: 100 }, (_, index) => step(`s${index}`)));
    expect(layout.width).toBeLessThan(13 * (NODE_WIDTH + 20));
  });

  it("places 3,000 steps with bounded work", () => {
    const layout = layoutOf(random(3_000, 30), height);
    expect(layout.nodes.length).toBe(3_000);
    const deep = Array.from({ length: 3_000 }, (_, index) =>
      index === 0 ? step("s0") : step(`s${index}`, `s${index - 1}`, "s0"),
    );
    expect(layoutOf(deep, height).nodes.length).toBe(3_000);
  });
});

/** A graph like that of a data pipeline: rows of steps, each after one to three of the row before or an earlier one. */
function random(count: number, width: number): GraphStep[] {
  let seed = 7;
  const below = (most: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % most;
  };
  return Array.from({ length: count }, (_, index) => {
    const row = Math.floor(index / width);
    if (row === 0) return step(`s${index}`);
    const parents = new Set<string>();
    for (let one = 0; one <= below(3); one++) parents.add(`s${(row - 1) * width + below(width)}`);
    if (below(20) === 0) parents.add(`s${below(row * width)}`);
    return step(`s${index}`, ...parents);
  });
}
