import { text } from "@/shell/search";

export interface WorkflowsSearch {
  /** Part of an id or a tag. */
  search?: string | undefined;
}

export function validateWorkflowsSearch(search: Record<string, unknown>): WorkflowsSearch {
  return { search: text(search, "search") };
}
