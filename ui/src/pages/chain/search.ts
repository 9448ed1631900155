import { text } from "@/shell/search";

export interface ChainSearch {
  /** The step in the drawer, by its key: "action.1". */
  step?: string | undefined;
}

export function validateChainSearch(search: Record<string, unknown>): ChainSearch {
  return { step: text(search, "step") };
}

/** The search params of the page of a class. */
export type ChainClassSearch = Record<never, never>;

export function validateChainClassSearch(_search: Record<string, unknown>): ChainClassSearch {
  return {};
}
