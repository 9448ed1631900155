import { Fragment, type ReactNode } from "react";
import classes from "./KeyValue.module.css";

/** Facts: `<KeyValue facts={[["queue", run.queue], ["worker", run.worker_id]]} />`. Null and undefined are left out. */
export function KeyValue({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) =>
        value === null || value === undefined || value === false ? null : (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ),
      )}
    </dl>
  );
}
