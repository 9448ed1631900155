/**
 * A SharedWorker: one stream for all tabs of a browser. It reads while at least one tab is visible.
 *
 *     tab: {type: "visible", url} | {type: "hidden"} | {type: "bye"}      worker: Message of stream.ts
 */
import { createStream, type Message, type Stream } from "./stream";

export type Order = { type: "visible"; url: string } | { type: "hidden" } | { type: "bye" };

interface Scope {
  onconnect: (event: MessageEvent) => void;
}

const tabs = new Set<MessagePort>();
const visible = new Set<MessagePort>();
let stream: Stream | undefined;
let openedAt = 0;

function tell(message: Message): void {
  if (message.type === "open") openedAt = message.at;
  for (const tab of tabs) tab.postMessage(message);
}

function onOrder(tab: MessagePort, order: Order): void {
  if (order.type === "visible") {
    visible.add(tab);
    stream ??= createStream(order.url, tell);
    if (stream.isOpen) tab.postMessage({ type: "open", at: openedAt } satisfies Message);
    else stream.open();
    return;
  }
  visible.delete(tab);
  if (order.type === "bye") tabs.delete(tab);
  if (visible.size === 0) stream?.close();
}

(globalThis as unknown as Scope).onconnect = (event) => {
  const tab = event.ports[0];
  if (!tab) return;
  tabs.add(tab);
  tab.onmessage = (sent: MessageEvent<Order>) => onOrder(tab, sent.data);
};
