import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";
import classes from "./PageTitle.module.css";

interface Props {
  title: string;
  /** A count or a status beside the title. */
  note?: ReactNode;
  /** One line below. */
  sub?: ReactNode;
  /** Buttons at the right. */
  actions?: ReactNode;
}

/** The title of a page, also that of the window. */
export function PageTitle({ title, note, sub, actions }: Props) {
  useDocumentTitle(`${title} · Foliot`);
  return (
    <header className={classes.title}>
      <div className={classes.text}>
        <h1>
          {title}
          {note !== undefined && <span className={classes.note}>{note}</span>}
        </h1>
        {sub && <div className="muted">{sub}</div>}
      </div>
      {actions && <div className={classes.actions}>{actions}</div>}
    </header>
  );
}
