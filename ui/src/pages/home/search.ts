/** The search params of this page, see shell/search.ts. */
export type HomeSearch = Record<never, never>;

export function validateHomeSearch(_search: Record<string, unknown>): HomeSearch {
  return {};
}
