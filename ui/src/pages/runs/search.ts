import type { RunKind, Status } from "@/api/types.gen";
import { flag, oneOf, text } from "@/shell/search";
import { STATUSES } from "@/status/table";

export const STATUS_NAMES = Object.keys(STATUSES) as Status[];
export const KINDS: readonly RunKind[] = ["job", "execution", "fanout", "chain", "step", "item", "reducer"];

/** The search params of this page. */
export interface RunsSearch {
  /** One status, or several with commas: "failed,timeout". */
  status?: string | undefined;
  job?: string | undefined;
  schedule?: string | undefined;
  kind?: RunKind | undefined;
  tag?: string | undefined;
  /** Runs that were created in this time. */
  since?: string | undefined;
  until?: string | undefined;
  /** The beginning of an id. */
  q?: string | undefined;
  /** Those that failed or timed out. */
  failed?: true | undefined;
  /** Also steps, items and reducers. */
  children?: true | undefined;
  /** The runs whose children are shown, with commas. */
  open?: string | undefined;
}

export function validateRunsSearch(search: Record<string, unknown>): RunsSearch {
  const statuses = statusesOf(text(search, "status"));
  return {
    status: statuses.length > 0 ? statuses.join(",") : undefined,
    job: text(search, "job"),
    schedule: text(search, "schedule"),
    kind: oneOf(search, "kind", KINDS),
    tag: text(search, "tag"),
    since: time(search, "since"),
    until: time(search, "until"),
    q: text(search, "q"),
    failed: flag(search, "failed"),
    children: flag(search, "children"),
    open: text(search, "open"),
  };
}

export const statusesOf = (given: string | undefined): Status[] => {
  const wanted = new Set((given ?? "").split(","));
  return STATUS_NAMES.filter((status) => wanted.has(status));
};

function time(search: Record<string, unknown>, name: string): string | undefined {
  const given = text(search, name);
  return given && Number.isFinite(Date.parse(given)) ? new Date(given).toISOString() : undefined;
}

export const isFiltered = ({ open: _, ...filter }: RunsSearch): boolean =>
  Object.values(filter).some((value) => value !== undefined);

export const openedOf = (search: RunsSearch): string[] => search.open?.split(",").filter(Boolean) ?? [];

const MOST_OPEN = 8;

/** Return the search after the children of a run were shown or hidden. */
export function toggledOpen(search: RunsSearch, run: string): RunsSearch {
  const before = openedOf(search);
  const after = before.includes(run) ? before.filter((one) => one !== run) : [...before, run].slice(-MOST_OPEN);
  return { ...search, open: after.length > 0 ? after.join(",") : undefined };
}
