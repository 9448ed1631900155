import type { WorkerView } from "@/api/types.gen";
import classes from "./Workers.module.css";

/** How many of its slots a worker uses. */
export function SlotBar({ worker: { running, slots } }: { worker: WorkerView }) {
  const share = slots > 0 ? Math.min(1, running / slots) : 0;
  return (
    <span className="row">
      <span className={classes.bar} aria-hidden>
        <span style={{ width: `${share * 100}%` }} />
      </span>
      <span>
        {running} <span className="faint">of {slots}</span>
      </span>
    </span>
  );
}
