import type { ReactNode } from "react";
import classes from "./home.module.css";

interface Props {
  icon: ReactNode;
  title: ReactNode;
  /** Beside the title: kind and age. */
  kind?: ReactNode;
  children: ReactNode;
  /** At the right: the strip, and below it the actions. */
  side?: ReactNode;
  actions?: ReactNode;
}

/** Something that needs a person: what, since when, why, and what to do. */
export function Need({ icon, title, kind, children, side, actions }: Props) {
  return (
    <li className={classes.need}>
      <span className={classes.icon}>{icon}</span>
      <div className={classes.what}>
        <span className={classes.title}>{title}</span> {kind && <span className={classes.kind}>{kind}</span>}
        <p>{children}</p>
      </div>
      <div className={classes.side}>
        {side}
        {actions && <div className={classes.actions}>{actions}</div>}
      </div>
    </li>
  );
}
