import classes from "./chains.module.css";

const MOST = 12;

/** How many of a few places are taken: "2 of 3". */
export function Pips({ used, of, isBad }: { used: number; of: number; isBad?: boolean }) {
  return (
    <span className={classes.pips}>
      {of <= MOST &&
        Array.from({ length: of }, (_, place) => (
          <i
            key={String(place)}
            data-used={place < used || undefined}
            data-bad={isBad || undefined}
            aria-hidden="true"
          />
        ))}
      <span>
        {used} of {of}
      </span>
    </span>
  );
}
