import type { RunBrief } from "@/api/types.gen";
import { StatusWord } from "@/status/StatusWord";
import { duration, fullMoment } from "@/time/format";
import { useZone } from "@/time/zone";
import classes from "./chart.module.css";

interface Props {
  run: RunBrief;
  x: number;
  /** In the right half of the chart: the card is left of its run. */
  isRight: boolean;
}

/** The run under the pointer. */
export function ChartCard({ run, x, isRight }: Props) {
  const zone = useZone();
  return (
    <div
      className={classes.card}
      style={isRight ? { right: `calc(100% - ${x - 10}px)` } : { left: x + 10 }}
      role="tooltip"
    >
      <StatusWord status={run.status} />
      <div>{fullMoment(run.scheduled_for ?? run.due_at, zone)}</div>
      <div>
        took {duration(run.duration)}, started {duration(run.lag)} after its time
        {run.attempt > 1 && `, attempt ${run.attempt}`}
      </div>
    </div>
  );
}
