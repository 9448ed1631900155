import { describe, expect, it } from "vitest";
import { curve, isForFailure, labelOf, lookOf } from "./edges";
import { layoutOf, NODE_HEIGHT, type PlacedNode } from "./layout";
import type { GraphStep } from "./types";
import { bringIntoView, drawnBox, isNodeIn, neighbour, whole, zoom } from "./view";

const step = (name: string, ...after: string[]): GraphStep => ({
  name,
  kind: "shell",
  after: after.map((one) => ({ step: one, when: ["success"] })),
});
const layout = layoutOf([step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c")], () => NODE_HEIGHT);
const node = (name: string) => layout.nodes.find((one) => one.step.name === name) as PlacedNode;
const SCREEN = { width: 800, height: 600 };

describe("the view", () => {
  it("fits a large graph and does not enlarge a small one", () => {
    expect(whole({ width: 8_000, height: 600 }, SCREEN).k).toBeCloseTo(0.093, 3);
    expect(whole({ width: 100, height: 100 }, SCREEN)).toEqual({ k: 1, x: 350, y: 250 });
  });

  it("keeps the point under the pointer when it zooms", () => {
    const [view, at] = [
      { x: 10, y: 20, k: 1 },
      { x: 100, y: 80 },
    ];
    const zoomed = zoom(view, 1.5, at);
    expect((at.x - zoomed.x) / zoomed.k).toBeCloseTo((at.x - view.x) / view.k);
  });

  it("moves no further than needed to show a node", () => {
    const view = whole(layout, SCREEN);
    expect(bringIntoView(view, node("a"), SCREEN)).toEqual(view);
    expect(bringIntoView({ x: -2_000, y: 0, k: 1 }, node("a"), SCREEN).x).toBeGreaterThan(-2_000);
  });

  it("draws what is in view only", () => {
    const box = drawnBox({ x: -50_000, y: 0, k: 1 }, SCREEN);
    expect(layout.nodes.filter((one) => isNodeIn(one, box))).toEqual([]);
    expect(layout.nodes.every((one) => isNodeIn(one, drawnBox(whole(layout, SCREEN), SCREEN)))).toBe(true);
  });

  it("goes from node to node with arrows", () => {
    expect(neighbour(layout, node("b"), "up")?.step.name).toBe("a");
    expect(neighbour(layout, node("b"), "down")?.step.name).toBe("d");
    const [left, right] = [node("b"), node("c")].sort((a, b) => a.x - b.x) as [PlacedNode, PlacedNode];
    expect(neighbour(layout, left, "right")).toBe(right);
    expect(neighbour(layout, left, "left")).toBeUndefined();
  });
});

describe("edges", () => {
  it("look like what happened", () => {
    expect(lookOf({ status: "success" }, undefined)).toBe("plain");
    expect(lookOf({ status: "success" }, { status: "success" })).toBe("done");
    expect(lookOf({ status: "success" }, { status: "running" })).toBe("live");
    expect(lookOf({ status: "success" }, { status: "skipped" })).toBe("unused");
    expect(lookOf({ status: "skipped" }, { status: "success" })).toBe("unused");
    expect(lookOf({ status: "running" }, { status: "pending", isToCome: true })).toBe("idle");
  });

  it("have a label unless they follow a success", () => {
    expect(labelOf({ words: "", isToFinal: false })).toBe("");
    expect(labelOf({ words: "failure", isToFinal: false })).toBe("on failure");
    expect(labelOf({ words: "success, output contains x", isToFinal: false })).toBe("success, output contains x");
    expect(isForFailure({ when: ["failure"] })).toBe(true);
    expect(isForFailure({ when: ["success"] })).toBe(false);
  });

  it("are curves, and straight lines where the place does not change", () => {
    expect(
      curve([
        [0, 0],
        [10, 40],
      ]),
    ).toBe("M0 0C0 20 10 20 10 40");
    expect(
      curve([
        [0, 0],
        [0, 40],
      ]),
    ).toBe("M0 0L0 40");
  });
});
