import { MarkWord } from "@/status/StatusWord";
import { REASONS } from "@/status/table";
import { counted, fullMoment, relative } from "@/time/format";
import { useNow } from "@/time/useNow";
import { useZone } from "@/time/zone";
import type { Slot } from "./slots";

/** What happened at one planned time: outcome, machine word, moment with offset, one sentence. */
export function TickCard({ slot }: { slot: Slot }) {
  const zone = useZone();
  const now = useNow();
  return (
    <>
      <div className="row">
        <MarkWord mark={slot.mark} />
        {slot.reason && <code>{slot.reason}</code>}
      </div>
      <div>
        {fullMoment(slot.at, zone)}
        {slot.scheduleId && ` · ${slot.scheduleId}`}
      </div>
      {slot.count > 1 && slot.until && (
        <div>
          {counted(slot.count, "planned time")}, until {fullMoment(slot.until, zone)}
        </div>
      )}
      <div>{slot.reason ? REASONS[slot.reason] : `Fires ${relative(Date.parse(slot.at), now)}.`}</div>
    </>
  );
}
