import { type Action, SHORTCUTS, shownKeys } from "@/shell/keys";
import classes from "./jobs.module.css";

const SHOWN: readonly (readonly [string, readonly Action[]])[] = [
  ["move", ["next", "previous"]],
  ["tick by tick", ["tickLeft", "tickRight"]],
  ["open", ["open"]],
  ["select", ["select"]],
  ["run now", ["runNow"]],
  ["pause", ["pause"]],
  ["edit", ["edit"]],
  ["all keys", ["help"]],
];

/** The keys of this list. */
export function KeysFoot() {
  return (
    <div className={classes.keys}>
      {SHOWN.map(([words, actions]) => (
        <span key={words}>
          {actions.map((action) => shownKeys(SHORTCUTS[action].keys[0] ?? "").map((one) => <kbd key={one}>{one}</kbd>))}
          {words}
        </span>
      ))}
    </div>
  );
}
