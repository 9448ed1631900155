import { useElementSize } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { type PointerEvent, useState } from "react";
import type { JobHistory, RunBrief } from "@/api/types.gen";
import { counted, duration } from "@/time/format";
import { ChartCard } from "./ChartCard";
import classes from "./chart.module.css";
import { Delays } from "./Delays";
import { Durations } from "./Durations";

const RIGHT = 74;
const LEAST = 240;

export interface Place {
  /** The middle of a run's place. */
  x: (index: number) => number;
  pitch: number;
  /** Where the plot ends and the labels begin. */
  end: number;
}

interface Props {
  history: JobHistory;
  /** How many runs have room. */
  places: number;
}

/** Bars of the durations by status, and dots of the start delays below. A click opens the run. */
export function Chart({ history, places }: Props) {
  const navigate = useNavigate();
  const { ref, width: measured } = useElementSize<HTMLDivElement>();
  const [hovered, setHovered] = useState<number | null>(null);
  const width = Math.max(LEAST, measured);
  const end = width - RIGHT;
  const pitch = end / places;
  const { runs } = history;
  const empty = places - runs.length;
  const place: Place = { x: (index) => (empty + index + 0.5) * pitch, pitch, end };
  const run = hovered === null ? undefined : runs[hovered];

  const indexOf = (event: PointerEvent): number | null => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
    const index = Math.floor(x / pitch) - empty;
    return runs[index] ? index : null;
  };
  const open = (one: RunBrief) => void navigate({ to: "/runs/$runId", params: { runId: one.id } });
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the table of runs below has links to the same runs
    // biome-ignore lint/a11y/noStaticElementInteractions: as above
    <div
      ref={ref}
      className={classes.chart}
      data-opens={run ? true : undefined}
      onPointerMove={(event) => setHovered(indexOf(event))}
      onPointerLeave={() => setHovered(null)}
      onClick={() => run && open(run)}
    >
      {measured > 0 && (
        <>
          {run && hovered !== null && (
            <span className={classes.column} style={{ left: place.x(hovered) - pitch / 2, width: pitch }} />
          )}
          <Durations history={history} place={place} width={width} />
          <Delays history={history} place={place} width={width} />
          {run && hovered !== null && (
            <ChartCard run={run} x={place.x(hovered)} isRight={place.x(hovered) > width / 2} />
          )}
        </>
      )}
    </div>
  );
}

/** Return the chart in words. */
export function chartWords({ runs, duration: usual, lag }: JobHistory): string {
  const parts = [counted(runs.length, "run")];
  if (usual) parts.push(`duration p50 ${duration(usual.p50)}, p95 ${duration(usual.p95)}`);
  if (lag) parts.push(`start delay p50 ${duration(lag.p50)}, p95 ${duration(lag.p95)}`);
  return parts.join("; ");
}
