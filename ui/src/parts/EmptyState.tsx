import type { ReactNode } from "react";
import { Code } from "./Code";
import classes from "./EmptyState.module.css";

interface Props {
  title: string;
  /** What would be here, in one sentence. */
  children?: ReactNode;
  /** The exact TOML that fills this list. */
  toml?: string;
  /** The exact command that fills this list. */
  command?: string;
  actions?: ReactNode;
}

/** An empty list that says how to fill it. */
export function EmptyState({ title, children, toml, command, actions }: Props) {
  return (
    <div className={classes.empty}>
      <h2>{title}</h2>
      {children && <p className="muted">{children}</p>}
      {toml && <Code text={toml} />}
      {command && <Code text={`$ ${command}`} copy={command} />}
      {actions && <div className="row">{actions}</div>}
    </div>
  );
}
