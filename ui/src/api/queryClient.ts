import { QueryCache, QueryClient } from "@tanstack/react-query";
import { asApiError } from "./error";
import { server } from "./queries";

const ATTEMPTS = 2;

/** Return the client of all queries. Live events make data old, so nothing is polled. */
export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        // The session has ended: asking who we are shows the login page.
        const me = server.me().queryKey;
        const isMe = query.queryKey[0] === me[0];
        if (!isMe && asApiError(error).status === 401) void client.invalidateQueries({ queryKey: [me[0]] });
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => count < ATTEMPTS && mayPass(asApiError(error).status),
      },
      mutations: { retry: false },
    },
  });
  return client;
}

/** Whether an error may be gone with the next attempt. */
function mayPass(status: number): boolean {
  return status === 0 || status === 429 || status >= 500;
}
