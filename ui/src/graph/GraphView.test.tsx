import { MantineProvider } from "@mantine/core";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GraphBoundary } from "./GraphBoundary";
import { GraphView } from "./GraphView";
import type { GraphStep, NodeState } from "./types";

const STEPS: GraphStep[] = [
  { name: "extract", kind: "shell", after: [] },
  { name: "load", kind: "shell", after: [{ step: "extract", when: ["success"], words: "success" }] },
  { name: "alarm", kind: "shell", after: [{ step: "load", when: ["failure"], words: "failure" }] },
];
const STATES = new Map<string, NodeState>([
  ["extract", { status: "success", note: "41 s" }],
  ["load", { status: "running" }],
  ["alarm", { status: "pending", isToCome: true, note: "only if load fails" }],
]);

beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(900);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const draw = (onSelect = vi.fn()) => {
  render(
    <MantineProvider>
      <GraphView label="Graph of etl" steps={STEPS} states={STATES} onSelect={onSelect} />
    </MantineProvider>,
  );
  return onSelect;
};

describe("the graph", () => {
  it("names each step with its status and its note", () => {
    draw();
    expect(screen.getByRole("group", { name: "Graph of etl, 3 steps" })).toBeTruthy();
    expect(screen.getByRole("button", { name: /^extract.*success.*41 s$/ })).toBeTruthy();
    expect(screen.getByRole("button", { name: /^alarm.*pending.*only if load fails$/ })).toBeTruthy();
    expect(screen.getByText("on failure")).toBeTruthy();
  });

  it("opens a step with a click", () => {
    const onSelect = draw();
    fireEvent.click(screen.getByRole("button", { name: /^load/ }));
    expect(onSelect).toHaveBeenCalledWith("load");
  });

  it("walks from step to step with arrows", () => {
    draw();
    const extract = screen.getByRole("button", { name: /^extract/ });
    extract.focus();
    fireEvent.keyDown(extract, { key: "ArrowDown" });
    expect(document.activeElement).toBe(screen.getByRole("button", { name: /^load/ }));
  });

  it("has one stop for the tab key", () => {
    draw();
    const stops = screen.getAllByRole("button", { name: /^(extract|load|alarm)/ });
    expect(stops.map((one) => one.tabIndex)).toEqual([0, -1, -1]);
  });
});

describe("a graph that cannot be drawn", () => {
  it("leaves the steps in sight", () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const Broken = () => {
      throw new Error("broken");
    };
    render(
      <MantineProvider>
        <GraphBoundary instead={<p>the table of steps</p>}>
          <Broken />
        </GraphBoundary>
      </MantineProvider>,
    );
    expect(screen.getByText("the table of steps")).toBeTruthy();
  });
});
