import { countdown, duration, fullMoment, relative, shortMoment } from "@/time/format";
import { useNow } from "@/time/useNow";
import { useZone } from "@/time/zone";

const MINUTE = 60_000;

type Moment = string | null | undefined;

/** "4 min ago", with the full moment as title. */
export function RelativeTime({ at }: { at: Moment }) {
  const isRecent = at ? Math.abs(Date.now() - Date.parse(at)) < MINUTE : false;
  const now = useNow(isRecent ? 1_000 : 10_000);
  const zone = useZone();
  if (!at) return <span className="faint">–</span>;
  return (
    <time dateTime={at} title={fullMoment(at, zone)}>
      {relative(Date.parse(at), now)}
    </time>
  );
}

/** "14:25", "Fri 07:00" or "12 Oct 07:00", with the full moment as title. */
export function MomentText({ at, full }: { at: Moment; full?: boolean }) {
  const now = useNow(MINUTE);
  const zone = useZone();
  if (!at) return <span className="faint">–</span>;
  return (
    <time dateTime={at} title={fullMoment(at, zone)}>
      {full ? fullMoment(at, zone) : shortMoment(at, zone, now)}
    </time>
  );
}

/** "1:12" until a moment, counting down. Show the moment beside it: `<Countdown at={at} withMoment />`. */
export function Countdown({ at, withMoment }: { at: Moment; withMoment?: boolean }) {
  const now = useNow();
  if (!at) return <span className="faint">–</span>;
  return (
    <>
      <span style={{ fontWeight: 500 }}>{countdown(Date.parse(at), now)}</span>
      {withMoment && (
        <span className="faint" style={{ marginLeft: 8 }}>
          <MomentText at={at} />
        </span>
      )}
    </>
  );
}

/** Seconds as text; with `since`, the time that has passed, which counts on. */
export function Duration({ seconds, since }: { seconds?: number | null | undefined; since?: Moment }) {
  return since ? <Passed since={since} /> : <span>{duration(seconds)}</span>;
}

function Passed({ since }: { since: string }) {
  const now = useNow();
  return <span>{duration(Math.max(0, Math.floor((now - Date.parse(since)) / 1_000)))}</span>;
}
