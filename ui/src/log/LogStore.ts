/** What is known about one log: how many lines it has, and the lines around the view. Reads are few and can be dropped. */
import { type ApiError, asApiError } from "@/api/error";
import type { LogLine, LogLines, LogState } from "@/api/types.gen";
import { PAGE, Pages } from "./pages";

export type ReadLines = (query: { first?: number; limit: number }, signal: AbortSignal) => Promise<LogLines>;

const AT_ONCE = 2;
/** A view that is scrolled past quickly is not read. */
const SETTLE = 40;

interface Reading {
  first: number;
  limit: number;
  abort: AbortController;
}

export class LogStore {
  total = 0;
  /** Whether all lines have been counted. A large log is counted with several requests. */
  isCounted = false;
  state: LogState | undefined;
  error: ApiError | null = null;
  /** Grows with each change, for useSyncExternalStore. */
  version = 0;

  private readonly pages = new Pages();
  private readonly listeners = new Set<() => void>();
  private readings: Reading[] = [];
  private view = { first: 1, last: PAGE };
  private timer: ReturnType<typeof setTimeout> | undefined;
  private counting: AbortController | undefined;
  private isStale = false;

  constructor(private readonly read: ReadLines) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  line(number: number): LogLine | undefined {
    return this.pages.line(number);
  }

  /** Read what these lines need. */
  show(first: number, last: number): void {
    this.view = { first, last };
    this.schedule();
  }

  /** Read the end of the log, and how many lines it has. Calls during a read cause one more. */
  async refresh(limit = PAGE): Promise<void> {
    if (this.counting) {
      this.isStale = true;
      return;
    }
    const abort = new AbortController();
    this.counting = abort;
    try {
      do {
        this.isStale = false;
        this.accept(await this.read({ limit }, abort.signal));
      } while (!abort.signal.aborted && (this.isStale || !this.isCounted));
    } catch (error) {
      this.fail(error, abort.signal);
    } finally {
      if (this.counting === abort) this.counting = undefined;
    }
  }

  retry(): void {
    this.error = null;
    this.changed();
    void this.refresh();
    this.schedule();
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.counting?.abort();
    this.counting = undefined;
    for (const { abort } of this.readings) abort.abort();
    this.readings = [];
  }

  private accept(answer: LogLines): void {
    // The last line may have been read before its end was printed.
    if (answer.total > this.total && this.total > 0) this.pages.forget(this.total);
    this.pages.add(answer.items);
    this.total = Math.max(this.total, answer.total);
    this.isCounted = answer.is_counted;
    this.state = answer.state;
    this.error = null;
    this.pages.dropFar(this.view.first, this.view.last);
    this.changed();
    this.schedule();
  }

  private schedule(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.fill();
    }, SETTLE);
  }

  private fill(): void {
    const wanted = this.pages.missing(this.view.first, this.view.last, this.total);
    // What is not wanted any more is not waited for.
    for (const reading of this.readings) {
      if (!wanted.some((one) => one.first === reading.first)) reading.abort.abort();
    }
    if (this.error) return;
    for (const one of wanted) {
      if (this.readings.length >= AT_ONCE) return;
      if (!this.readings.some(({ first }) => first === one.first)) void this.load(one.first, one.limit);
    }
  }

  private async load(first: number, limit: number): Promise<void> {
    const reading = { first, limit, abort: new AbortController() };
    this.readings.push(reading);
    try {
      const answer = await this.read({ first, limit }, reading.abort.signal);
      this.readings = this.readings.filter((one) => one !== reading);
      // An answer without lines would be asked for again at once.
      if (answer.items.length === 0) this.total = Math.min(this.total, first - 1);
      this.pages.add(answer.items);
      this.error = null;
      this.pages.dropFar(this.view.first, this.view.last);
      this.changed();
      // The log has grown. Its end is read with the number of lines, so that no line without a text is shown.
      if (answer.total > this.total && answer.items.length > 0) void this.refresh();
    } catch (error) {
      this.readings = this.readings.filter((one) => one !== reading);
      this.fail(error, reading.abort.signal);
    }
    this.schedule();
  }

  private fail(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.error = asApiError(error);
    this.changed();
  }

  private changed(): void {
    this.version++;
    for (const listener of this.listeners) listener();
  }
}
