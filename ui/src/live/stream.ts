/** The stream of all events, in a worker or in a page. It begins again after the last event that it has. */
import { KINDS } from "./resources";

/** What listeners of a stream are told. They are plain values, so that they can be sent between pages. */
export type Message =
  | { type: "open"; at: number }
  | { type: "closed" }
  | { type: "event"; kind: string; id: number }
  | { type: "reset"; id: number };

const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 15_000;

export interface Stream {
  /** Read from now on, after the last event that it has. */
  open: () => void;
  /** Stop reading. */
  close: () => void;
  /** Events up to this one are known from elsewhere. */
  setLast: (id: number) => void;
  readonly isOpen: boolean;
}

export function createStream(url: string, tell: (message: Message) => void): Stream {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = FIRST_WAIT;
  let last: number | undefined;
  let isOpen = false;

  const onFrame = (kind: string) => (frame: MessageEvent) => {
    const id = Number(frame.lastEventId);
    if (Number.isSafeInteger(id) && frame.lastEventId !== "") last = id;
    tell(kind === "reset" ? { type: "reset", id } : { type: "event", kind, id });
  };

  const connect = () => {
    source = new EventSource(last === undefined ? url : `${url}?after=${last}`);
    source.onopen = () => {
      wait = FIRST_WAIT;
      isOpen = true;
      tell({ type: "open", at: Date.now() });
    };
    source.onerror = () => {
      isOpen = false;
      tell({ type: "closed" });
      // A broken connection is repeated by the browser; a refusal (no session, server stopping) is not.
      if (source?.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(connect, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    };
    for (const kind of [...KINDS, "reset"]) source.addEventListener(kind, onFrame(kind));
  };

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
    isOpen = false;
  };

  return {
    open: () => {
      close();
      wait = FIRST_WAIT;
      connect();
    },
    close,
    setLast: (id) => {
      last = id;
    },
    get isOpen() {
      return isOpen;
    },
  };
}
