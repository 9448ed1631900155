import type { ReactNode } from "react";
import classes from "./Section.module.css";

interface Props {
  title: ReactNode;
  /** A number or short text beside the title. */
  note?: ReactNode;
  /** A link or buttons at the right. */
  more?: ReactNode;
  /** No line below the heading. */
  plain?: boolean;
  children?: ReactNode;
}

/** A heading, a hairline and content. */
export function Section({ title, note, more, plain, children }: Props) {
  return (
    <section className={classes.section}>
      <div className={classes.head} data-plain={plain || undefined}>
        <h2>{title}</h2>
        {note !== undefined && <span className={classes.note}>{note}</span>}
        {more && <span className={classes.more}>{more}</span>}
      </div>
      {children}
    </section>
  );
}
