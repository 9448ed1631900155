import { useMemo } from "react";
import type { JobRow } from "@/api/types.gen";
import type { Slot } from "@/ticks/slots";
import { TickStrip } from "@/ticks/TickStrip";
import { stateOf } from "./cells";

interface Props {
  row: Pick<JobRow, "strip" | "enabled" | "paused" | "stopped_at">;
  size?: "list" | "large";
  active?: number | null;
  onOpen?: (slot: Slot) => void;
}

/** The strip of a job. A job that is off has no planned ticks. */
export function JobStrip({ row, size = "list", active = null, onOpen }: Props) {
  const planned = useMemo(() => (stateOf(row) ? [] : row.strip.next.map((fire) => fire.at)), [row]);
  return (
    <TickStrip ticks={row.strip.ticks} planned={planned} size={size} active={active} {...(onOpen ? { onOpen } : {})} />
  );
}
