import { flag, oneOf } from "@/shell/search";

export const TABS = ["tokens", "users", "dsns"] as const;
export type Tab = (typeof TABS)[number];

/** The search params of this page, see shell/search.ts. */
export interface SettingsSearch {
  tab?: Tab | undefined;
  /** Whether revoked tokens are listed, too. */
  revoked?: true | undefined;
}

export function validateSettingsSearch(search: Record<string, unknown>): SettingsSearch {
  return { tab: oneOf(search, "tab", TABS), revoked: flag(search, "revoked") };
}
