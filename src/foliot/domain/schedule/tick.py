"""A tick: one planned moment of one schedule, and the one outcome it ends in.

    outcome     reasons                              meaning
    ran         on_time, caught_up, boot             a run was created for it
    skipped     overlap, paused, disabled, successful  it was due and deliberately not run
    missed      down, too_old                        no scheduler was running, and the catch-up policy dropped it
    coalesced   caught_up                            another tick (`into`) ran for it as well
    failed      launch_failed                        it could not be launched
    cancelled   superseded, deleted                  a newer tick replaced it, or its schedule was deleted

A row may cover a range: every planned moment from `scheduled_for` to `until` has the same outcome. So a month of
downtime of a schedule that fires every second is one row, and the ledger is both complete and bounded.
"""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple

from foliot.domain.ids import RunId, ScheduleId
from foliot.domain.instant import SECOND, Instant, Millis


class TickOutcome(StrEnum):
    RAN = "ran"
    SKIPPED = "skipped"
    MISSED = "missed"
    COALESCED = "coalesced"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TickReason(StrEnum):
    ON_TIME = "on_time"
    CAUGHT_UP = "caught_up"
    BOOT = "boot"
    OVERLAP = "overlap"
    PAUSED = "paused"
    DISABLED = "disabled"
    SUCCESSFUL = "successful"
    DOWN = "down"
    TOO_OLD = "too_old"
    LAUNCH_FAILED = "launch_failed"
    SUPERSEDED = "superseded"
    DELETED = "deleted"


REASONS: Final[Mapping[TickOutcome, frozenset[TickReason]]] = {
    TickOutcome.RAN: frozenset({TickReason.ON_TIME, TickReason.CAUGHT_UP, TickReason.BOOT}),
    TickOutcome.SKIPPED: frozenset({TickReason.OVERLAP, TickReason.PAUSED, TickReason.DISABLED, TickReason.SUCCESSFUL}),
    TickOutcome.MISSED: frozenset({TickReason.DOWN, TickReason.TOO_OLD}),
    TickOutcome.COALESCED: frozenset({TickReason.CAUGHT_UP}),
    TickOutcome.FAILED: frozenset({TickReason.LAUNCH_FAILED}),
    TickOutcome.CANCELLED: frozenset({TickReason.SUPERSEDED, TickReason.DELETED}),
}


class TickRecord(NamedTuple):
    """One row of the ledger. `until` equals `scheduled_for` and `count` is 1 unless the row is a range."""

    scheduled_for: Instant
    until: Instant
    count: int  # type: ignore[assignment]  # hides tuple.count, which has no use here
    outcome: TickOutcome
    reason: TickReason
    fire_at: Instant
    revision: int
    run_id: RunId | None = None
    into: Instant | None = None

    def key(self, schedule_id: ScheduleId) -> str | None:
        """Return the idempotency key of the tick. None: the row is a range of ticks."""
        return tick_key(schedule_id, self.scheduled_for) if self.until == self.scheduled_for else None


class PlannedTick(NamedTuple):
    """A tick that waits for `fire_at`. The watermark has passed its planned moment."""

    scheduled_for: Instant
    fire_at: Instant
    revision: int

    def cancelled(self) -> TickRecord:
        """Return the record of the tick if its schedule is deleted before it fires."""
        moment, fire_at, revision = self
        return TickRecord(moment, moment, 1, TickOutcome.CANCELLED, TickReason.DELETED, fire_at, revision)


class JitterMode(StrEnum):
    AROUND = "around"
    AFTER = "after"


def tick_key(schedule_id: ScheduleId, scheduled_for: Instant) -> str:
    """Return the idempotency key of a tick, as passed to launchers. It depends on the planned time, not the actual."""
    return sha256(f"{schedule_id}:{scheduled_for // SECOND}".encode()).hexdigest()


def jitter_offset(key: str, jitter: Millis, mode: JitterMode) -> Millis:
    """Return the offset of a tick from its planned moment: the same on every node and after every restart."""
    if not jitter:
        return Millis(0)
    sample = int(key[:16], 16)
    if mode is JitterMode.AFTER:
        return Millis(sample % (jitter + 1))
    return Millis(sample % (2 * jitter + 1) - jitter)
