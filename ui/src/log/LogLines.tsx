import type { CSSProperties } from "react";
import { useZone } from "@/time/zone";
import { LogRow } from "./LogRow";
import type { LogStore } from "./LogStore";
import classes from "./log.module.css";
import { isInRange, type LineRange } from "./range";
import type { LogScroll } from "./useLogScroll";

interface Props {
  label: string;
  store: LogStore;
  scroll: LogScroll;
  isWrapped: boolean;
  hasTimes: boolean;
  wanted: string;
  range: LineRange | undefined;
  errorLine: number | undefined;
  matchLine: number | undefined;
  matches: readonly number[];
  onNumber: (line: number, isExtended: boolean) => void;
}

const MOST_TICKS = 400;

/** The lines in view, in a box that scrolls as if all were there. */
export function LogLines(props: Props) {
  const { label, store, scroll, isWrapped, hasTimes, wanted, range, errorLine, matchLine, onNumber } = props;
  const zone = useZone();
  const { first, last } = scroll;
  const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  const digits = Math.max(3, String(store.total).length);
  const toneOf = (number: number) => (number === matchLine ? "match" : number === errorLine ? "error" : undefined);
  const attemptAt = (number: number) => {
    const [before, line] = [store.line(number - 1), store.line(number)];
    return line && before && before.attempt !== line.attempt ? line.attempt : undefined;
  };
  return (
    <div className={classes.frame}>
      <section
        ref={scroll.viewport}
        className={classes.viewport}
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it
        tabIndex={0}
        data-wrap={isWrapped || undefined}
        style={{ height: scroll.height + 12, "--digits": `${digits}ch` } as CSSProperties}
        onScroll={scroll.onScroll}
        onWheel={(event) => event.deltaY < 0 && scroll.onLeave()}
        onTouchMove={scroll.onLeave}
      >
        <div className={classes.space} style={{ height: scroll.height }}>
          <div className={classes.window} style={{ height: scroll.geometry.view }}>
            <div ref={scroll.rows} className={classes.rows}>
              {numbers.map((number) => (
                <LogRow
                  key={number}
                  number={number}
                  line={store.line(number)}
                  isSelected={isInRange(range, number)}
                  tone={toneOf(number)}
                  hasTime={hasTimes}
                  zone={zone}
                  wanted={wanted}
                  attempt={attemptAt(number)}
                  onNumber={onNumber}
                />
              ))}
            </div>
          </div>
        </div>
      </section>
      <Ruler matches={props.matches} total={store.total} errorLine={errorLine} />
    </div>
  );
}

/** Where the matches are in the whole log, beside the bar. */
function Ruler({
  matches,
  total,
  errorLine,
}: {
  matches: readonly number[];
  total: number;
  errorLine?: number | undefined;
}) {
  if (total === 0 || (matches.length === 0 && errorLine === undefined)) return null;
  const places = new Set(matches.map((line) => Math.round((line / total) * MOST_TICKS)));
  return (
    <svg className={classes.ruler} viewBox={`0 0 6 ${MOST_TICKS}`} preserveAspectRatio="none" aria-hidden="true">
      {[...places].map((place) => (
        <rect key={place} x="0" y={place - 0.75} width="6" height="1.5" className={classes.matchTick} />
      ))}
      {errorLine !== undefined && (
        <rect x="0" y={(errorLine / total) * MOST_TICKS - 1} width="6" height="2" className={classes.errorTick} />
      )}
    </svg>
  );
}
