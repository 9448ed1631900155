import type { TickOutcome, TickReason } from "@/api/types.gen";
import { RunLink } from "@/parts/links";
import { MomentText } from "@/parts/times";
import { REASONS } from "@/status/table";
import { counted, duration } from "@/time/format";

interface Props {
  tick: {
    outcome: TickOutcome;
    reason: TickReason;
    run_id: string | null;
    status: string | null;
    until: string;
    count: number;
    duration?: number | null;
    coalesced_into?: string | null;
  };
}

/** What came of a tick, in a few words. */
export function Came({ tick }: Props) {
  if (tick.count > 1) {
    return (
      <span className="clip">
        {counted(tick.count, "tick")} until <MomentText at={tick.until} />. {REASONS[tick.reason]}
      </span>
    );
  }
  if (tick.run_id) {
    return (
      <span className="clip">
        run <RunLink id={tick.run_id} />
        {tick.status && `, ${tick.status}`}
        {tick.duration != null && ` in ${duration(tick.duration)}`}
      </span>
    );
  }
  if (tick.coalesced_into) {
    return (
      <span className="clip">
        the tick of <MomentText at={tick.coalesced_into} /> ran for it as well
      </span>
    );
  }
  return <span className="clip">{REASONS[tick.reason]}</span>;
}
