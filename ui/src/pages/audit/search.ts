import { text } from "@/shell/search";

/** The search params of this page, see shell/search.ts. */
export interface AuditSearch {
  actor?: string | undefined;
  id?: string | undefined;
  /** The cursor of the entry that the drawer shows. */
  open?: string | undefined;
}

export function validateAuditSearch(search: Record<string, unknown>): AuditSearch {
  return { actor: text(search, "actor"), id: text(search, "id"), open: text(search, "open") };
}
