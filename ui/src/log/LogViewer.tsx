import { useMediaQuery } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { asApiError } from "@/api/error";
import { ErrorNote } from "@/parts/ErrorNote";
import { useDelayed } from "@/parts/useDelayed";
import { useKeys } from "@/shell/keys";
import { counted } from "@/time/format";
import { copyLines, MOST_COPIED } from "./copy";
import { findAttempt } from "./findAttempt";
import { LogBar } from "./LogBar";
import { LogFinder } from "./LogFinder";
import { LogLines } from "./LogLines";
import classes from "./log.module.css";
import { clickedRange, type LineRange } from "./range";
import { useLog } from "./useLog";
import { useLogScroll } from "./useLogScroll";
import { findError, matchBeside, useLogSearch } from "./useLogSearch";

interface Props {
  runId: string;
  /** What the run is, for screen readers and the head: an item, a step. */
  title: ReactNode;
  label: string;
  /** How many attempts the run has had: more than one can be chosen. */
  attempts?: number;
  /** The run failed: its first error is found and marked, and the end is in view first. */
  hasFailed?: boolean;
  /** The lines of the address, and how to change them. */
  range?: LineRange | undefined;
  onRange?: (range: LineRange | undefined) => void;
  /** False where another log or list has the keys. */
  hasKeys?: boolean;
}

/** The log of a run: `<LogViewer runId={run.id} title={run.job_id} label={run.job_id} />`. Give it a key of the run id. */
export function LogViewer(props: Props) {
  const { runId, label, hasFailed = false, range, onRange, hasKeys = true } = props;
  const store = useLog(runId);
  const isPhone = useMediaQuery("(max-width: 640px)", false, { getInitialValueInEffect: false });
  const [isWrapped, setWrapped] = usePreference("foliot.log.wrap", isPhone);
  const [hasTimes, setTimes] = usePreference("foliot.log.times", !isPhone);
  const [isFinding, setFinding] = useState(false);
  const [text, setText] = useState("");
  const [matchLine, setMatchLine] = useState<number>();
  const [errorLine, setErrorLine] = useState<number>();
  const isOpen = store.state === "open";
  const scroll = useLogScroll(store.total, isWrapped, !range);
  const search = useLogSearch(runId, text.trim());
  const startedAt = usePlaceAtStart(store.total, store.state, hasFailed, range, scroll);
  const newLines = useNewLines(store.total, scroll.isFollowing);
  const input = useRef<HTMLInputElement>(null);

  useEffect(() => store.show(scroll.first, scroll.last), [store, scroll.first, scroll.last]);
  const wrap = () => {
    setWrapped(!isWrapped);
    // The lines of an ended log stay where they are, also if all of them were in view.
    if (!isOpen && scroll.isFollowing && scroll.first === 1) scroll.toTop();
  };

  const showLine = (line: number) => {
    setMatchLine(line);
    scroll.toLine(line);
  };
  const firstMatch = search.lines[0];
  const shownFor = useRef("");
  useEffect(() => {
    // The first match of a new text is shown as soon as it is found.
    if (text.trim() === "") setMatchLine(undefined);
    if (firstMatch === undefined || shownFor.current === text.trim()) return;
    shownFor.current = text.trim();
    setMatchLine(firstMatch);
    scroll.toLine(firstMatch);
  }, [firstMatch, text, scroll.toLine]);
  const beside = (step: 1 | -1) => {
    const line = matchBeside(search.lines, matchLine ?? scroll.first, step);
    if (line !== undefined) showLine(line);
  };

  useEffect(() => {
    if (!hasFailed) return;
    const abort = new AbortController();
    findError(runId, abort.signal).then((line) => !abort.signal.aborted && setErrorLine(line), ignored);
    return () => abort.abort();
  }, [runId, hasFailed]);
  const [errorSearch, setErrorSearch] = useState<number>();
  const seeking = useRef<AbortController>(undefined);
  useEffect(() => () => seeking.current?.abort(), []);
  const toError = async () => {
    seeking.current?.abort();
    const abort = new AbortController();
    seeking.current = abort;
    setErrorSearch(1);
    try {
      const line = errorLine ?? (await findError(runId, abort.signal, setErrorSearch));
      if (abort.signal.aborted) return;
      if (line === undefined) return notifications.show({ message: "No line looks like an error." });
      setErrorLine(line);
      scroll.toLine(line);
    } catch (error) {
      if (abort.signal.aborted) return;
      notifications.show({ title: asApiError(error).message, message: asApiError(error).hint, color: "red" });
    } finally {
      if (seeking.current === abort) setErrorSearch(undefined);
    }
  };
  const toAttempt = async (attempt: number) => {
    const line = await findAttempt(runId, store.total, attempt).catch(ignored);
    if (line) scroll.toLine(line);
  };
  const copy = async () => {
    const wanted = range ?? { first: 1, last: store.total };
    if (wanted.last - wanted.first >= MOST_COPIED) {
      const message = "Click the number of a line, then one more with Shift, to copy these. Or download the log.";
      return notifications.show({ title: `More than ${counted(MOST_COPIED, "line")}`, message });
    }
    const count = await copyLines(runId, wanted).catch((error) => asApiError(error));
    notifications.show({ message: typeof count === "number" ? `Copied ${counted(count, "line")}` : count.message });
  };
  const openFinder = () => {
    setFinding(true);
    requestAnimationFrame(() => input.current?.select());
  };
  const closeFinder = () => {
    setFinding(false);
    setText("");
    scroll.viewport.current?.focus({ preventScroll: true });
  };

  useKeys(
    hasKeys
      ? {
          search: openFinder,
          follow: scroll.toEnd,
          top: scroll.toTop,
          bottom: scroll.toEnd,
          firstError: () => void toError(),
          nextMatch: () => search.lines.length > 0 && beside(1),
          previousMatch: () => search.lines.length > 0 && beside(-1),
          wrap,
          close: () => isFinding && closeFinder(),
        }
      : {},
  );

  const isLoading = useDelayed(store.state === undefined && !store.error);
  return (
    <div className={classes.log}>
      <LogBar
        {...props}
        store={store}
        isFollowing={isOpen && scroll.isFollowing}
        isWrapped={isWrapped}
        hasTimes={hasTimes}
        onTop={scroll.toTop}
        onEnd={scroll.toEnd}
        onError={() => void toError()}
        errorSearch={errorSearch}
        onFind={isFinding ? closeFinder : openFinder}
        onWrap={wrap}
        onTimes={() => setTimes(!hasTimes)}
        onCopy={() => void copy()}
        onAttempt={(attempt) => void toAttempt(attempt)}
      />
      {isFinding && (
        <LogFinder
          input={input}
          text={text}
          onText={setText}
          search={search}
          line={matchLine}
          onNext={() => beside(1)}
          onPrevious={() => beside(-1)}
          onClose={closeFinder}
        />
      )}
      <ErrorNote error={store.error ?? search.error} onRetry={() => store.retry()} />
      {store.total === 0 && store.state !== undefined && <p className={classes.note}>{emptyText(store.state)}</p>}
      {isLoading && <p className={classes.note}>Reading the log …</p>}
      <div hidden={store.total === 0}>
        <LogLines
          label={`Log of ${label}`}
          store={store}
          scroll={scroll}
          isWrapped={isWrapped}
          hasTimes={hasTimes}
          wanted={text.trim()}
          range={range}
          errorLine={errorLine}
          matchLine={matchLine}
          matches={search.lines}
          onNumber={(line, isExtended) => onRange?.(clickedRange(range, line, isExtended))}
        />
      </div>
      {isOpen && !scroll.isFollowing && startedAt !== undefined && (
        <button type="button" className={classes.paused} onClick={scroll.toEnd}>
          Paused{newLines > 0 && <b>{counted(newLines, "new line")}</b>}
          <span className="faint">
            press <kbd>End</kbd>
          </span>
        </button>
      )}
    </div>
  );
}

const ignored = () => undefined;

function emptyText(state: string): string {
  switch (state) {
    case "open":
      return "Nothing was printed yet.";
    case "pruned":
      return "The log was removed by retention.";
    case "worker_lost":
      return "The log was lost with its worker.";
  }
  return "It printed nothing.";
}

/** A choice of this browser. */
function usePreference(name: string, initial: boolean): [boolean, (value: boolean) => void] {
  const [value, setValue] = useState(() => {
    try {
      const stored = localStorage.getItem(name);
      return stored === null ? initial : stored === "yes";
    } catch {
      return initial;
    }
  });
  const set = (next: boolean) => {
    setValue(next);
    try {
      localStorage.setItem(name, next ? "yes" : "no");
    } catch {
      // Storage is blocked: the choice ends with the page.
    }
  };
  return [value, set];
}

/**
 * Show the right place once: the lines of the address as soon as they are counted; the end of a log that grows or that
 * ended with a failure; else the top.
 */
function usePlaceAtStart(
  total: number,
  state: string | undefined,
  hasFailed: boolean,
  range: LineRange | undefined,
  scroll: { toLine: (line: number) => void; toTop: () => void },
): number | undefined {
  const [shown, setShown] = useState<number>();
  const line = range?.first;
  const { toLine, toTop } = scroll;
  useEffect(() => {
    if (state === undefined || total === 0 || shown !== undefined) return;
    if (line !== undefined) {
      if (total < line && state === "open") return;
      toLine(line);
    } else if (state !== "open" && !hasFailed) {
      toTop();
    }
    setShown(line ?? 0);
  }, [total, state, hasFailed, line, shown, toLine, toTop]);
  return shown;
}

/** How many lines were added since the end was in view. */
function useNewLines(total: number, isFollowing: boolean): number {
  const [seen, setSeen] = useState(total);
  useEffect(() => {
    if (isFollowing) setSeen(total);
  }, [total, isFollowing]);
  return Math.max(0, total - seen);
}
