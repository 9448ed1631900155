import { MarkIcon, StatusIcon } from "./StatusIcon";
import classes from "./StatusWord.module.css";
import { entryOf, MARKS, type Mark } from "./table";

/** Icon and word of a status: `<StatusWord status={run.status} />`. */
export function StatusWord({ status, size }: { status: string; size?: number }) {
  const entry = entryOf(status);
  return (
    <span className={`${classes.word} ${entry.hue}`} title={entry.meaning}>
      <StatusIcon status={status} {...(size ? { size } : {})} />
      {entry.word}
    </span>
  );
}

/** Icon and word of a mark of the tick strip. */
export function MarkWord({ mark }: { mark: Mark }) {
  const entry = MARKS[mark];
  return (
    <span className={`${classes.word} ${entry.hue}`} title={entry.meaning}>
      <MarkIcon mark={mark} />
      {entry.word}
    </span>
  );
}
