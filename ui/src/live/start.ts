/** Connects the queries of this tab with the events of the server. */
import type { QueryClient } from "@tanstack/react-query";
import { urlOf } from "@/api/client";
import type { EventKind } from "@/api/types.gen";
import { createInvalidator } from "./invalidate";
import { RESOURCES } from "./resources";
import { createSource, type Source } from "./source";
import { setLiveState } from "./state";
import type { Message } from "./stream";

let source: Source | undefined;

/** Connect at once, after a login for example. */
export function reconnectLive(): void {
  if (!document.hidden) source?.show();
}

/** Keep all queries up to date from now on. */
export function startLive(client: QueryClient): void {
  const invalidator = createInvalidator(client);
  let isConnected = false;
  let openedAt = 0;

  const showState = () => setLiveState(document.hidden ? "paused" : isConnected ? "live" : "reconnecting");

  const onMessage = (message: Message) => {
    switch (message.type) {
      case "open":
        if (openedAt === 0) invalidateOlder(client, message.at);
        // Nothing was read for a while: the tabs were hidden, or the server was away and may be another version now.
        else if (message.at !== openedAt) void client.invalidateQueries();
        isConnected = true;
        openedAt = message.at;
        break;
      case "closed":
        // The session may have ended: then the login page is shown.
        if (isConnected) void client.invalidateQueries({ queryKey: ["me"] });
        isConnected = false;
        break;
      case "event":
        invalidator.add(RESOURCES[message.kind as EventKind] ?? []);
        break;
      case "reset":
        void client.invalidateQueries();
    }
    showState();
  };

  const own = createSource(urlOf("/api/events"), onMessage);
  source = own;
  const onVisibility = () => {
    invalidator.setPaused(document.hidden);
    if (document.hidden) own.hide();
    else own.show();
    showState();
  };
  document.addEventListener("visibilitychange", onVisibility);
  window.addEventListener("pagehide", own.leave);
  window.addEventListener("pageshow", (event) => event.persisted && onVisibility());
  onVisibility();
}

/** Read again what was read before the stream was open: an event may have been missed between the two. */
function invalidateOlder(client: QueryClient, openedAt: number): void {
  void client.invalidateQueries({
    predicate: ({ state }) => state.dataUpdatedAt > 0 && state.dataUpdatedAt < openedAt,
  });
}
