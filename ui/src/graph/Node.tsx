import { memo } from "react";
import { Duration } from "@/parts/times";
import { StatusIcon } from "@/status/StatusIcon";
import { entryOf } from "@/status/table";
import { counted } from "@/time/format";
import { CountsBar } from "./CountsBar";
import classes from "./graph.module.css";
import { KindIcon, kindWord } from "./KindIcon";
import { NODE_HEIGHT, type PlacedNode } from "./layout";
import type { GraphStep, NodeItem, NodeState } from "./types";

const COUNTS_HEIGHT = 36;
const ITEM_HEIGHT = 24;
const LIST_PADDING = 10;

/** Return the height of a node: a fanout has counts, and a list of items if it is folded out. */
export function heightOf(
  step: GraphStep,
  states: ReadonlyMap<string, NodeState> | undefined,
  items: ReadonlyMap<string, readonly NodeItem[]> | undefined,
): number {
  const hasCounts = states?.get(step.name)?.counts !== undefined;
  const shown = hasCounts ? items?.get(step.name) : undefined;
  const list = shown ? shown.length * ITEM_HEIGHT + LIST_PADDING : 0;
  return NODE_HEIGHT + (hasCounts ? COUNTS_HEIGHT : 0) + list;
}

interface Props {
  node: PlacedNode;
  state: NodeState | undefined;
  hasStates: boolean;
  items: readonly NodeItem[] | undefined;
  isSelected: boolean;
  isTabStop: boolean;
  onSelect: ((name: string) => void) | undefined;
  onFold: ((name: string) => void) | undefined;
}

/** A step: its glyph, its name, one line of meaning. */
export const Node = memo(function Node(props: Props) {
  const { node, state, hasStates, items, isSelected, isTabStop, onSelect, onFold } = props;
  const { step } = node;
  const note = state ? (state.note ?? "") : noteOf(step);
  const word = state ? entryOf(state.status).word : step.kind;
  const isFanout = step.kind === "fanout";
  return (
    <div
      className={classes.node}
      style={{ left: node.x, top: node.y, width: node.width, height: node.height }}
      data-wait={(hasStates && (!state || state.isToCome)) || undefined}
      data-selected={isSelected || undefined}
      data-fanout={isFanout || undefined}
      data-skipped={state?.status === "skipped" || undefined}
    >
      <button
        type="button"
        className={classes.face}
        data-step={step.name}
        aria-pressed={onSelect ? isSelected : undefined}
        tabIndex={isTabStop ? 0 : -1}
        onClick={() => onSelect?.(step.name)}
      >
        <b title={step.name}>{step.name}</b>
        <span className="sr">, {word}, </span>
        <span className={classes.glyph}>
          {state ? <StatusIcon status={state.status} /> : <KindIcon kind={step.kind} />}
        </span>
        <small data-noteworthy={state?.isNoteworthy || undefined} title={note}>
          {state?.since && <Duration since={state.since} />}
          {state?.since && note && " · "}
          {note}
        </small>
      </button>
      {state?.counts && (
        <div className={classes.counts}>
          <CountsBar counts={state.counts} />
          {onFold && (
            <button
              type="button"
              className={classes.fold}
              aria-expanded={items !== undefined}
              aria-label={`${items ? "fold " : ""}items of ${step.name}`}
              tabIndex={isTabStop ? 0 : -1}
              onClick={() => onFold(step.name)}
            >
              {items ? "fold" : "items"}
            </button>
          )}
        </div>
      )}
      {items && (
        <ul className={classes.items} aria-label={`Items of ${step.name}`}>
          {items.map((item) => (
            <li key={item.key}>
              <StatusIcon status={item.status} size={12} alone />
              <span className="clip grow" title={item.name}>
                {item.name}
              </span>
              <span className="faint">{item.note}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
});

/** What is known of a step before it runs. */
function noteOf(step: GraphStep): string {
  if (step.is_paused) return "paused: it is skipped";
  if (step.is_final) return "final, in any case";
  if (step.recovers) return "recovers a failure";
  return kindWord(step.kind);
}

/** "8 items" of the counts of a fanout. */
export function itemsOf(counts: readonly { count: number }[]): string {
  return counted(
    counts.reduce((sum, one) => sum + one.count, 0),
    "item",
  );
}
