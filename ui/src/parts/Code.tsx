import classes from "./Code.module.css";
import { CopyButton } from "./CopyButton";

interface Props {
  text: string;
  /** What is copied, if it is not the text itself. null: no button. */
  copy?: string | null;
  wrap?: boolean;
}

/** A block of code with a button that copies it. */
export function Code({ text, copy = text, wrap }: Props) {
  return (
    <div className={classes.box}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it */}
      <pre className={classes.code} data-wrap={wrap || undefined} tabIndex={0}>
        {text}
      </pre>
      {copy !== null && (
        <span className={classes.copy}>
          <CopyButton text={copy} />
        </span>
      )}
    </div>
  );
}
