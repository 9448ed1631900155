/** Where a tab gets its events from: the stream that all tabs of the browser share. */
import { createStream, type Message } from "./stream";
import type { Order } from "./worker";

export interface Source {
  /** The tab became visible: events are wanted. */
  show: () => void;
  /** The tab became hidden. */
  hide: () => void;
  /** The tab is closed. */
  leave: () => void;
}

const NAME = "foliot-live";

export function createSource(url: string, tell: (message: Message) => void): Source {
  if (typeof SharedWorker !== "undefined") return workerSource(url, tell);
  if (navigator.locks && typeof BroadcastChannel !== "undefined") return leaderSource(url, tell);
  const stream = createStream(url, tell);
  return { show: stream.open, hide: stream.close, leave: stream.close };
}

function workerSource(url: string, tell: (message: Message) => void): Source {
  const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module", name: NAME });
  const order = (one: Order) => worker.port.postMessage(one);
  worker.port.onmessage = (sent: MessageEvent<Message>) => tell(sent.data);
  return {
    show: () => order({ type: "visible", url }),
    hide: () => order({ type: "hidden" }),
    leave: () => order({ type: "bye" }),
  };
}

/** Without SharedWorker: the visible tab that holds the lock reads the stream and tells the others. */
function leaderSource(url: string, tell: (message: Message) => void): Source {
  const channel = new BroadcastChannel(NAME);
  let release: (() => void) | undefined;
  let waiting: AbortController | undefined;
  let openedAt = 0;
  const stream = createStream(url, (message) => {
    if (message.type === "open") openedAt = message.at;
    tell(message);
    channel.postMessage(message);
  });
  channel.onmessage = ({ data }: MessageEvent<Message | { type: "join" }>) => {
    if (data.type === "join") {
      if (stream.isOpen) channel.postMessage({ type: "open", at: openedAt } satisfies Message);
      return;
    }
    if ("id" in data) stream.setLast(data.id);
    tell(data);
  };
  const lead = () =>
    new Promise<void>((resolve) => {
      stream.open();
      release = () => {
        stream.close();
        resolve();
      };
    });
  const show = () => {
    waiting?.abort();
    waiting = new AbortController();
    channel.postMessage({ type: "join" });
    navigator.locks.request(NAME, { signal: waiting.signal }, lead).catch(() => undefined);
  };
  const hide = () => {
    waiting?.abort();
    release?.();
    release = undefined;
  };
  return { show, hide, leave: hide };
}
