"""What can be wrong with a ledger."""

from enum import StrEnum
from typing import NamedTuple

from foliot.domain.ids import RunId
from foliot.domain.instant import Instant


class Fault(StrEnum):
    # moments
    MISSING = "missing"
    """Planned moments that have no row."""
    INVENTED = "invented"
    """A row for moments that were never planned, or a range that begins or ends at such a moment."""
    DOUBLED = "doubled"
    """Two rows for one moment."""
    MISCOUNTED = "miscounted"
    """A range whose count differs from the moments it covers."""
    RAN_WHILE_PAUSED = "ran_while_paused"
    PAUSE_MISMATCH = "pause_mismatch"
    """A row with the reason paused outside of a pause, or with another reason inside of one."""
    BEYOND_WATERMARK = "beyond_watermark"
    """A row for moments after the watermark, which are not decided yet."""

    # rows
    IMPOSSIBLE = "impossible"
    """An outcome and reason that the policies of the schedule cannot produce."""
    OTHER_REVISION = "other_revision"
    """A row with a revision that does not apply to its moments."""
    MISTIMED = "mistimed"
    """A fire time that does not follow from the jitter."""
    WRONG_KEY = "wrong_key"
    """An idempotency key that does not follow from the schedule's id and the planned moment."""
    LEADS_NOWHERE = "leads_nowhere"
    """A coalesced tick without a later tick that it coalesced into."""
    UNREADABLE = "unreadable"
    """A row that cannot be decoded: an invalid word, an invalid document."""

    # launches
    SHARED_RUN = "shared_run"
    """Two ticks that name one run."""
    RUN_MISSING = "run_missing"
    """A tick whose run is gone although an older run exists, which retention would have removed first."""
    RUN_OF_ANOTHER = "run_of_another"
    """A tick whose run names another tick, or none."""
    UNRECORDED_RUN = "unrecorded_run"
    """A run that names a tick, while no tick names the run."""

    # the schedule's own row
    ASLEEP = "asleep"
    """A schedule that has planned moments but is disabled or has no wake time."""
    OVERSLEEPS = "oversleeps"
    """A wake time that is too late for the next moment."""
    WRONG_NEXT = "wrong_next"
    """A next moment that is not the first one after the watermark."""
    WRONG_LAST = "wrong_last"
    """A last moment that did not run."""
    WRONG_WATERMARK = "wrong_watermark"
    """A watermark that is not a planned moment."""
    WRONG_START = "wrong_start"
    """Rows before the recorded start of the ledger, or a start after the watermark."""
    WRONG_PAUSE = "wrong_pause"
    """A schedule that is paused without a pause record, or the reverse."""
    WRONG_RULE = "wrong_rule"
    """Revisions that are missing, out of order, or different from the schedule's own row."""


class Finding(NamedTuple):
    """A fault, the range of moments, and how many moments are affected."""

    fault: Fault
    first: Instant
    last: Instant
    count: int  # type: ignore[assignment]  # hides tuple.count, which has no use here
    run_id: RunId | None = None
    row: str | None = None
    """Which row cannot be read, and why."""
