import { oneOf, text } from "@/shell/search";

export const SHOWN = ["open", "closed"] as const;

export interface ChainsSearch {
  /** Only chains of this class. */
  class?: string | undefined;
  /** Only open, or only closed ones. */
  show?: (typeof SHOWN)[number] | undefined;
}

export function validateChainsSearch(search: Record<string, unknown>): ChainsSearch {
  return { class: text(search, "class"), show: oneOf(search, "show", SHOWN) };
}
