import { basePath } from "./base";
import { ApiError, errorOf, unreachable } from "./error";
import type { Routes } from "./types.gen";

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** The paths that have a method. */
export type PathOf<M extends Method> = keyof Routes[M] & string;

interface Route {
  path: object;
  query: object;
  body: unknown;
  answer: unknown;
}
type RouteOf<M extends Method, P extends PathOf<M>> = Routes[M][P] extends Route ? Routes[M][P] : never;
export type AnswerOf<M extends Method, P extends PathOf<M>> = RouteOf<M, P>["answer"];
export type QueryOf<P extends PathOf<"GET">> = RouteOf<"GET", P>["query"];

type Empty = Record<never, never>;
type Given<Name extends string, T> = T extends undefined
  ? Empty
  : keyof T extends never
    ? Empty
    : Empty extends T
      ? { [K in Name]?: T }
      : { [K in Name]: T };

export type Parameters<M extends Method, P extends PathOf<M>> = Given<"path", RouteOf<M, P>["path"]> &
  Given<"query", RouteOf<M, P>["query"]> &
  Given<"body", RouteOf<M, P>["body"]>;

interface Further {
  signal?: AbortSignal;
  /** The ETag that the definition must still have. */
  ifMatch?: string | undefined;
  headers?: Record<string, string>;
}

type Arguments<M extends Method, P extends PathOf<M>> =
  Empty extends Parameters<M, P> ? [given?: Parameters<M, P> & Further] : [given: Parameters<M, P> & Further];

interface Given0 extends Further {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** Return the URL of a route below the base path. */
export function urlOf(path: string, values: Record<string, string> = {}, query: Record<string, unknown> = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    search.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  const text = search.toString();
  return `${basePath}${filled}${text && `?${text}`}`;
}

/** Send a request and return the answer. Throws an ApiError. */
async function send(method: Method, path: string, given: Given0): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json", ...given.headers };
  const init: RequestInit = { method, headers, credentials: "same-origin", signal: given.signal ?? null };
  if (method !== "GET") {
    headers["Content-Type"] = "application/json";
    if (given.body !== undefined) init.body = JSON.stringify(given.body);
  }
  if (given.ifMatch) headers["If-Match"] = given.ifMatch;
  if (method === "POST") headers["Idempotency-Key"] = newKey();
  const url = urlOf(path, given.path, given.query);
  const answer = await attempt(url, init, method === "POST");
  if (!answer.ok) throw await errorOf(answer);
  return answer;
}

/** A POST has a key, so it may be repeated once without a second effect. */
async function attempt(url: string, init: RequestInit, isRepeatable: boolean): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    if (isRepeatable) return attempt(url, init, false);
    throw unreachable();
  }
}

async function json(answer: Response): Promise<unknown> {
  return answer.status === 204 ? null : answer.json();
}

/** Return a new Idempotency-Key. crypto.randomUUID does not exist on plain HTTP. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function verb<M extends Method>(method: M) {
  return async <P extends PathOf<M>>(path: P, ...[given]: Arguments<M, P>): Promise<AnswerOf<M, P>> =>
    (await json(await send(method, path, (given ?? {}) as Given0))) as AnswerOf<M, P>;
}

/** The HTTP API. Paths are those of the reference, with their parameters in `path`. */
export const api = {
  get: verb("GET"),
  post: verb("POST"),
  put: verb("PUT"),
  delete: verb("DELETE"),

  /** Return a definition and its ETag, for `ifMatch` of a later change. */
  getTagged: async <P extends PathOf<"GET">>(
    path: P,
    ...[given]: Arguments<"GET", P>
  ): Promise<{ data: AnswerOf<"GET", P>; etag: string | undefined }> => {
    const answer = await send("GET", path, (given ?? {}) as Given0);
    const data = (await json(answer)) as AnswerOf<"GET", P>;
    return { data, etag: answer.headers.get("ETag") ?? undefined };
  },

  /** Return the answer of a route that is not JSON: the bytes of a log, for example. */
  getRaw: async <P extends PathOf<"GET">>(path: P, ...[given]: Arguments<"GET", P>): Promise<Response> =>
    send("GET", path, { ...((given ?? {}) as Given0), headers: { Accept: "*/*", ...given?.headers } }),
};

export { ApiError };
