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
    """A row for moments that were never planned, or that begins or ends at one."""
    DOUBLED = "doubled"
    """Two rows for one moment."""
    MISCOUNTED = "miscounted"
    """A range whose count differs from the moments it covers."""
    RAN_WHILE_PAUSED = "ran_while_paused"
    PAUSE_MISMATCH = "pause_mismatch"
    """Skipped as paused where no pause was, or given another outcome in a pause."""
    BEYOND_WATERMARK = "beyond_watermark"
    """A row for moments that the schedule says are not decided yet."""

    # rows
    IMPOSSIBLE = "impossible"
    """An outcome for a reason that the policies of its schedule cannot give."""
    OTHER_REVISION = "other_revision"
    """A row that names a revision which does not rule its moments."""
    MISTIMED = "mistimed"
    """A tick that was to fire at another moment than its jitter gives."""
    WRONG_KEY = "wrong_key"
    """An idempotency key that is not made from the schedule's name and the planned moment."""
    LEADS_NOWHERE = "leads_nowhere"
    """A coalesced tick that names no later tick as the one that was to run for it."""
    UNREADABLE = "unreadable"
    """A row that says nothing Foliot knows: a word that does not exist, a document that is none."""

    # launches
    SHARED_RUN = "shared_run"
    """Two ticks that name one run."""
    RUN_MISSING = "run_missing"
    """A tick whose run is gone, although retention would have taken an older one first."""
    RUN_OF_ANOTHER = "run_of_another"
    """A tick whose run says that it was made for another tick, or for none."""
    UNRECORDED_RUN = "unrecorded_run"
    """A run that says it was made for a tick, and no tick that names it."""

    # standing
    ASLEEP = "asleep"
    """Moments to come, and a schedule that is off, or that nothing will wake for them."""
    OVERSLEEPS = "oversleeps"
    """A schedule that will be woken later than its next moment asks for."""
    WRONG_NEXT = "wrong_next"
    """A next moment that is not the one that follows the decided ones."""
    WRONG_LAST = "wrong_last"
    """A last moment that did not run."""
    WRONG_WATERMARK = "wrong_watermark"
    """A watermark at which nothing was planned."""
    WRONG_START = "wrong_start"
    """Rows older than retention is said to have left, or a ledger said to begin after all that is decided."""
    WRONG_PAUSE = "wrong_pause"
    """A schedule that is said to be paused without a pause, or the other way round."""
    WRONG_RULE = "wrong_rule"
    """Revisions that are gone, out of order, or not what the schedule itself says."""


class Finding(NamedTuple):
    """What is wrong, where, and how many moments are concerned."""

    fault: Fault
    first: Instant
    last: Instant
    count: int  # type: ignore[assignment]  # nobody counts the fields of a row
    run_id: RunId | None = None
    row: str | None = None
    """Which row cannot be read, and why."""
