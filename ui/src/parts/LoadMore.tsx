import { Button } from "@mantine/core";
import { useEffect, useRef } from "react";
import type { List } from "@/api/useList";

/** Reads the next page of a list when it comes into view; the button is for keyboards. */
export function LoadMore({ list }: { list: List<unknown> }) {
  const place = useRef<HTMLDivElement>(null);
  const { hasMore, isLoadingMore, loadMore } = list;
  const latest = useRef(loadMore);
  latest.current = loadMore;
  useEffect(() => {
    if (!place.current || !hasMore || isLoadingMore) return;
    const observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && latest.current(), {
      rootMargin: "600px",
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [hasMore, isLoadingMore]);
  if (!hasMore) return null;
  return (
    <div ref={place} style={{ padding: "12px 0" }}>
      <Button loading={isLoadingMore} onClick={loadMore}>
        Show more
      </Button>
    </div>
  );
}
