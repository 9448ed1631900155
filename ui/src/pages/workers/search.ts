/** The search params of this page, see shell/search.ts. */
export type WorkersSearch = Record<never, never>;

export function validateWorkersSearch(_search: Record<string, unknown>): WorkersSearch {
  return {};
}
