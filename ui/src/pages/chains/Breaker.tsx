import type { ClassView } from "@/api/types.gen";
import { Countdown, MomentText } from "@/parts/times";

/** What the breaker of a class does now, in a sentence. */
export function BreakerWords({ one, next }: { one: ClassView; next: string | null | undefined }) {
  if (one.stopped) return <>Stopped by hand: it arms no chain.</>;
  if (one.breaker === "open") {
    return one.resume_at ? (
      <>
        Tries one chain in <Countdown at={one.resume_at} />, at <MomentText at={one.resume_at} />
      </>
    ) : (
      <>It arms no chain until it is reset.</>
    );
  }
  if (one.breaker === "half_open") return <>One chain may go; its end decides.</>;
  return next ? (
    <>
      Next scout in <Countdown at={next} />, at <MomentText at={next} />
    </>
  ) : (
    <>It arms chains when its scout finds something.</>
  );
}
