import { type MouseEvent, memo, useMemo } from "react";
import { entryOf } from "@/status/table";
import { line } from "./edges";
import classes from "./graph.module.css";
import type { GraphLayout } from "./layout";
import type { NodeState } from "./types";

interface Props {
  layout: GraphLayout;
  states: ReadonlyMap<string, NodeState> | undefined;
  selected: string | undefined;
  onSelect: ((name: string) => void) | undefined;
}

/** A large graph from afar: one path for all edges, and one for the steps of each hue, so that thousands paint at once. */
export const Blocks = memo(function Blocks({ layout, states, selected, onSelect }: Props) {
  const edges = useMemo(() => layout.edges.map((edge) => line(edge.points)).join(""), [layout]);
  const groups = useMemo(() => {
    const paths = new Map<string, string[]>();
    for (const node of layout.nodes) {
      const state = states?.get(node.step.name);
      const hue = state && !state.isToCome ? entryOf(state.status).hue : "none";
      const path = `M${node.x} ${node.y}h${node.width}v${node.height}h-${node.width}z`;
      const list = paths.get(hue);
      if (list) list.push(path);
      else paths.set(hue, [path]);
    }
    return [...paths];
  }, [layout, states]);
  const pick = (event: MouseEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const scale = layout.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const node = layout.nodes.find(
      (one) => x >= one.x && x <= one.x + one.width && y >= one.y && y <= one.y + one.height,
    );
    if (node) onSelect?.(node.step.name);
  };
  const chosen = layout.nodes.find((node) => node.step.name === selected);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: arrows go to a step and enlarge the graph
    <svg
      className={classes.blocks}
      width={layout.width}
      height={layout.height}
      role="img"
      aria-label="The graph is small: press an arrow key, or zoom in, to read names"
      onClick={pick}
    >
      <path d={edges} className={classes.edge} data-look="afar" />
      {groups.map(([hue, paths]) => (
        <path key={hue} d={paths.join("")} className={classes.block} data-hue={hue} />
      ))}
      {chosen && (
        <rect className={classes.chosen} x={chosen.x} y={chosen.y} width={chosen.width} height={chosen.height} />
      )}
    </svg>
  );
});
