import { useQueries, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { list, one, runs as queries } from "@/api/queries";
import type { ExecutionPage, FanoutView, RunView, WorkflowStepView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import type { NodeItem } from "@/graph/types";
import { duration } from "@/time/format";

const PAGE = 200;
/** Durations are shown for so many steps; the drawer of a step reads its own run. */
const MOST_RUNS = 1_000;
const MOST_FANOUTS = 12;
const SHOWN_ITEMS = 8;

/** The runs of the steps of an execution, by their id, read page by page. */
export function useStepRuns(executionId: string | undefined): { runs: ReadonlyMap<string, RunView>; areAll: boolean } {
  const pages = useList({
    ...list("runs", "/api/runs/{run_id}/children", { path: { run_id: executionId ?? "" }, query: { limit: PAGE } }),
    enabled: executionId !== undefined,
  });
  const { items, hasMore, isLoadingMore, loadMore } = pages;
  useEffect(() => {
    if (hasMore && !isLoadingMore && items.length < MOST_RUNS) loadMore();
  }, [hasMore, isLoadingMore, items.length, loadMore]);
  const areAll = !pages.isLoading && !pages.error && !hasMore;
  const runs = useMemo(() => new Map(items.map((run) => [run.id, run])), [items]);
  return { runs, areAll };
}

/** The counts of the fanouts among the steps, by the id of their run. */
export function useFanouts(
  page: ExecutionPage | null | undefined,
  steps: readonly WorkflowStepView[],
): ReadonlyMap<string, FanoutView> {
  const ids = useMemo(() => {
    const names = new Set(steps.filter((step) => step.kind === "fanout").map((step) => step.name));
    const ofFanouts = page?.execution.steps.filter((step) => step.run_id && names.has(step.name)) ?? [];
    return ofFanouts.slice(0, MOST_FANOUTS).map((step) => step.run_id as string);
  }, [page, steps]);
  return useQueries({
    queries: ids.map((id) => queries.page(id)),
    combine: (answers) => {
      const found = new Map<string, FanoutView>();
      answers.forEach((answer, index) => {
        const fanout = answer.data?.fanout;
        const id = ids[index];
        if (fanout && id) found.set(id, fanout);
      });
      return found;
    },
  });
}

/** Some items of the fanout that is folded out: those that failed first. */
export function useItems(step: string | undefined, runId: string | null | undefined, fanout: FanoutView | undefined) {
  const query = useQuery({
    ...one("runs", "/api/runs/{run_id}/items", { path: { run_id: runId ?? "" }, query: { limit: SHOWN_ITEMS } }),
    enabled: Boolean(runId),
  });
  const items = query.data?.items;
  return useMemo(() => {
    if (!step || !items) return undefined;
    const failed = fanout?.first_failed ?? [];
    const others = items.filter((item) => !failed.some((one) => one.index === item.index));
    const shown = [...failed, ...others].slice(0, SHOWN_ITEMS).map(
      (item): NodeItem => ({
        key: String(item.index),
        name: item.item ?? `item ${item.index}`,
        status: item.status,
        runId: item.run_id,
        note: item.duration === null ? "" : duration(item.duration),
      }),
    );
    return new Map([[step, shown]]);
  }, [step, items, fanout]);
}
