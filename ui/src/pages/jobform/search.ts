import { flag, oneOf, text } from "@/shell/search";

export const WAYS = ["form", "toml"] as const;
export type Way = (typeof WAYS)[number];

/** The search params of this page, see shell/search.ts. */
export interface NewJobSearch {
  way?: Way | undefined;
  /** The job that is copied. */
  from?: string | undefined;
}

export function validateNewJobSearch(search: Record<string, unknown>): NewJobSearch {
  return { way: oneOf(search, "way", WAYS), from: text(search, "from") };
}

/** The search params of this page, see shell/search.ts. */
export interface EditJobSearch {
  way?: Way | undefined;
  /** Whether it is a workflow. */
  workflow?: true | undefined;
}

export function validateEditJobSearch(search: Record<string, unknown>): EditJobSearch {
  return { way: oneOf(search, "way", WAYS), workflow: flag(search, "workflow") };
}
