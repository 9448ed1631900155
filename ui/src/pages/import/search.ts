import { flag } from "@/shell/search";

/** The search params of this page, see shell/search.ts. */
export interface ImportSearch {
  /** Whether lines name their users, as in /etc/crontab. */
  system?: true | undefined;
}

export function validateImportSearch(search: Record<string, unknown>): ImportSearch {
  return { system: flag(search, "system") };
}
