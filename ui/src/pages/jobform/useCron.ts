import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import type { ApiError } from "@/api/error";
import { asApiError } from "@/api/error";
import { cron } from "@/api/queries";
import type { CronExplanation } from "@/api/types.gen";
import type { Document } from "./draft";

export interface Explained {
  expression: string;
  found?: CronExplanation;
  error?: ApiError;
}

interface Given {
  expression: string;
  timezone: string;
  /** The id of the job: H depends on it, and its own schedule is no collision. */
  id: string;
  /** Settings of the schedule that the form does not show, such as dom_dow. */
  others: Document;
}

/** H cannot be explained without an id. */
const EXAMPLE_ID = "job";

/** What the server says of an expression, while it is written. The last answer stays until the next one. */
export function useCron({ expression, timezone, id, others }: Given): Explained | undefined {
  const [settled] = useDebouncedValue({ expr: expression.trim(), tz: timezone.trim(), id: id.trim() }, 120);
  const { dom_dow, dst } = others as { dom_dow?: "and" | "or"; dst?: "literal" | "skip" | "vixie" };
  const query = useQuery({
    ...cron.explain({
      expr: settled.expr,
      tz: settled.tz || "UTC",
      count: 10,
      collisions: true,
      key: `${settled.id || EXAMPLE_ID}:default`,
      ...(dom_dow ? { dom_dow } : {}),
      ...(dst ? { dst } : {}),
    }),
    enabled: settled.expr !== "",
    retry: false,
    staleTime: 30_000,
  });
  const last = useRef<Explained>(undefined);
  if (settled.expr === "") last.current = undefined;
  else if (query.error) last.current = { expression: settled.expr, error: asApiError(query.error) };
  else if (query.data) last.current = { expression: settled.expr, found: query.data };
  return last.current;
}
