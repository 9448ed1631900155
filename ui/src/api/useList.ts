import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type ApiError, asApiError } from "./error";
import type { ListQuery } from "./queries";

export interface List<Item> {
  /** The items of all pages that were read. */
  items: Item[];
  /** No page was read yet. */
  isLoading: boolean;
  error: ApiError | null;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
  reload: () => void;
}

/** Read a list of the API page by page: `const list = useList(runs.list({ status: "failed" }))`. */
export function useList<Item>(options: ListQuery<Item>): List<Item> {
  const query = useInfiniteQuery(options);
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  return {
    items,
    isLoading: query.isPending,
    error: query.error ? asApiError(query.error) : null,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    reload: () => void query.refetch(),
  };
}
