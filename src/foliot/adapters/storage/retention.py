"""How far back the ledger of a schedule must reach, whatever retention says."""

from foliot.adapters.storage.documents import decode_schedule_spec
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.schedule.schedule import Catchup


def removable_before(document: str, settled_until: Instant, now: Instant, ticks_age: Millis) -> Instant:
    """Ticks of the schedule that says this, and that ended before this moment, may go.

    Kept are those younger than `ticks_age` and those a catch-up may still ask about; a moment that is not settled
    is never older than that.
    """
    return Instant(min(now - max(ticks_age, _longest_catchup(document)), settled_until + 1))


def _longest_catchup(document: str) -> Millis:
    """None, where the document cannot be read: what is not settled is kept all the same."""
    try:
        spec = decode_schedule_spec(document)
    except UNREADABLE:
        return Millis(0)
    return Millis(0) if spec.catchup is Catchup.NONE else spec.catchup_max_age or Millis(0)
