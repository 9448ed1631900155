import type { ReducerView } from "@/api/types.gen";
import { RunLink } from "@/parts/links";
import { StatusWord } from "@/status/StatusWord";
import { counted } from "@/time/format";
import classes from "./fanout.module.css";

const RUN_ON: Record<string, string> = {
  always: "runs however the items end",
  success: "runs if the items succeed, or as many as are tolerated",
  any_success: "runs if at least one item succeeds",
};

/** The row of the reducer, which runs after the items. */
export function Reducer({ reducer, left }: { reducer: ReducerView; left: number }) {
  const runOn = RUN_ON[reducer.run_on] ?? `run_on = ${reducer.run_on}`;
  return (
    <div className={classes.reducer}>
      <b>{reducer.run_id ? <RunLink id={reducer.run_id}>Reducer</RunLink> : "Reducer"}</b>
      <StatusWord status={reducer.status ?? (reducer.state === "not_due" ? "skipped" : "pending")} />
      <span className="muted clip">{reducer.error_message ?? textOf(reducer, left, runOn)}</span>
    </div>
  );
}

function textOf(reducer: ReducerView, left: number, runOn: string): string {
  if (reducer.state === "pending") return `waits for ${counted(left, "item")}; ${runOn}`;
  return reducer.state === "not_due" ? `did not run: it ${runOn}` : runOn;
}
