import { memo } from "react";
import { curve, isForFailure, labelOf, labelPlace, lookOf } from "./edges";
import classes from "./graph.module.css";
import type { GraphLayout, PlacedEdge } from "./layout";
import type { NodeState } from "./types";

interface Props {
  layout: GraphLayout;
  edges: readonly PlacedEdge[];
  states: ReadonlyMap<string, NodeState> | undefined;
}

/** The edges in view, with their conditions. */
export const Edges = memo(function Edges({ layout, edges, states }: Props) {
  const stateOf = (index: number) => states?.get(layout.nodes[index]?.step.name ?? "");
  return (
    <>
      <svg className={classes.edges} width={layout.width} height={layout.height} aria-hidden="true">
        {edges.map((edge) => (
          <path
            key={`${edge.from} ${edge.to}`}
            d={curve(edge.points)}
            className={classes.edge}
            data-look={states ? lookOf(stateOf(edge.from), stateOf(edge.to)) : "plain"}
            data-failure={isForFailure(edge) || undefined}
            data-final={edge.isToFinal || undefined}
          />
        ))}
      </svg>
      {edges.map((edge) => {
        const label = labelOf(edge);
        const [x, y] = labelPlace(edge.points);
        return label ? (
          <span key={`${edge.from} ${edge.to}`} className={classes.label} style={{ left: x, top: y }} title={label}>
            {label}
          </span>
        ) : null;
      })}
    </>
  );
});
