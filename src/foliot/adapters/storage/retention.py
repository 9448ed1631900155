"""How far back the ledger of a schedule must reach, whatever retention says."""

from foliot.domain.instant import Instant, Millis
from foliot.domain.schedule import Catchup, ScheduleSpec


def removable_before(spec: ScheduleSpec, settled_until: Instant, now: Instant, ticks_age: Millis) -> Instant:
    """Ticks that ended before this moment may go.

    Kept are those younger than `ticks_age` and those a catch-up may still ask about; a moment that is not settled
    is never older than that.
    """
    keep = ticks_age
    if spec.catchup is not Catchup.NONE and spec.catchup_max_age is not None:
        keep = max(keep, spec.catchup_max_age)
    return Instant(min(now - keep, settled_until + 1))
