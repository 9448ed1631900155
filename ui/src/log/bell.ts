/**
 * Tells when a log has grown. The stream of its pieces is read from its end on, and only as a bell: the lines come from
 * the paged route, so that a fast log costs one small read at a time and memory stays the same.
 */
import { api } from "@/api/client";

const PAUSE = 400;
const RECONNECT = 2_000;
const END = "event: end";

interface Heard {
  onGrown: () => void;
  /** Nothing more will follow. */
  onEnd: () => void;
}

/** Listen until the log ends. Returns a function that stops. */
export function listen(runId: string, heard: Heard): () => void {
  const abort = new AbortController();
  const ring = throttled(heard.onGrown);
  const connect = async () => {
    while (!abort.signal.aborted) {
      try {
        if (await follow(runId, abort.signal, ring.call)) {
          ring.stop();
          heard.onEnd();
          return;
        }
      } catch {
        // The server is restarting, or refuses for a while.
      }
      await pause(RECONNECT, abort.signal);
      if (!abort.signal.aborted) heard.onGrown();
    }
  };
  void connect();
  return () => {
    ring.stop();
    abort.abort();
  };
}

/** Read the stream from the end of the log on. Returns true if the log has ended. */
async function follow(runId: string, signal: AbortSignal, ring: () => void): Promise<boolean> {
  const path = { run_id: runId };
  const tail = await api.get("/api/runs/{run_id}/log/pieces", { path, query: { tail: 1 }, signal });
  const last = tail.items.at(-1)?.id;
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (last) headers["Last-Event-ID"] = last;
  const answer = await api.getRaw("/api/runs/{run_id}/log/pieces/stream", { path, headers, signal });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return false;
  let before = "\n";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return false;
    const text = before + value;
    // Data is JSON on one line, so no text of a log begins a line of the stream.
    if (text.includes(`\n${END}`)) return true;
    if (text.includes("\ndata:")) ring();
    before = text.slice(-END.length);
  }
}

function throttled(act: () => void): { call: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAgain = false;
  const run = () => {
    act();
    timer = setTimeout(() => {
      timer = undefined;
      if (isAgain) run();
      isAgain = false;
    }, PAUSE);
  };
  return {
    call: () => {
      if (timer === undefined) run();
      else isAgain = true;
    },
    stop: () => clearTimeout(timer),
  };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
