"""The part of the storage that keeps schedules and their ledgers. See `ports.storage` for what all verbs promise."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job
from foliot.domain.schedule.firing import DueSchedule, Firing
from foliot.domain.schedule.schedule import Pause, Revision, Schedule
from foliot.domain.schedule.tick import PlannedTick, TickRecord
from foliot.errors import RowUnreadable
from foliot.ports.definitions import NewSchedule


class Unreadable(NamedTuple):
    """A schedule that asks for a decision nobody can make: its row, or that of its job, cannot be read."""

    uid: ScheduleUid
    id: ScheduleId
    error: RowUnreadable


class DueBatch(NamedTuple):
    """Schedules that ask for a decision at `now`, and the jobs they start."""

    now: Instant
    schedules: Sequence[DueSchedule]
    jobs: Mapping[JobId, Job]
    unreadable: Sequence[Unreadable] = ()
    """They ask as well, and count as the others do."""

    @property
    def size(self) -> int:
        """How many ask."""
        return len(self.schedules) + len(self.unreadable)


class Ledger(NamedTuple):
    """A schedule with all that `verify` needs to recompute its ticks."""

    schedule: Schedule
    deleted_at: Instant | None
    revisions: Sequence[Revision]
    pauses: Sequence[Pause]
    planned: Sequence[PlannedTick]


class TickSight(NamedTuple):
    """A row of the ledger as people are shown it."""

    record: TickRecord
    key: str | None
    """The idempotency key of the tick; a range has none."""
    decided_at: Instant
    """When it was settled, and the row written."""
    error: RowUnreadable | None = None
    """Why the row cannot be read; the rest is what can be told all the same."""


class ScheduleStore(Protocol):
    async def put(self, schedules: Sequence[NewSchedule], *, at: Instant | None = None) -> list[Schedule]:
        """Create schedules, or edit those that exist by opening a revision (see `domain.schedule.edit`).

        Saving an equal specification changes nothing. An edit never un-pauses. A row that cannot be read is mended by
        it: the revision that it was copied from says what it said.
        """
        ...

    async def pause(
        self, schedule_ids: Collection[ScheduleId], *, paused: bool, at: Instant | None = None
    ) -> list[Schedule]:
        """Pause or resume. Pausing twice keeps the first moment. Returns the schedules that exist."""
        ...

    async def delete(self, schedule_ids: Collection[ScheduleId], *, at: Instant | None = None) -> list[ScheduleId]:
        """Delete schedules; their planned ticks become cancelled (deleted), their ledger and runs stay."""
        ...

    async def get(self, schedule_ids: Collection[ScheduleId]) -> dict[ScheduleId, Schedule]: ...

    async def page(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> list[Schedule]:
        """Schedules by id, those after `after`."""
        ...

    async def due(self, limit: int, *, at: Instant | None = None) -> DueBatch:
        """Up to `limit` schedules whose `wake_at` has come, earliest first. Takes no lock and changes nothing.

        One that cannot be read, or whose job cannot, keeps none of the others from being read.
        """
        ...

    async def settle(self, firings: Sequence[Firing], *, at: Instant | None = None) -> list[ScheduleUid]:
        """Save ticks, runs and the advanced watermark of each firing in one transaction.

        A firing whose schedule has another version by now changes nothing; the uids of those saved come back.
        Runs are created as `RunStore.create` does; each holds its schedule's overlap key until it is terminal. With
        `cancels_running` every earlier run of the schedule that is not terminal is cancelled, started or not.
        """
        ...

    async def next_wake(self, *, besides: Collection[ScheduleUid] = ()) -> Instant | None:
        """When the next schedule asks for a decision, other than some that cannot be helped. One look into an index,
        however many schedules there are."""
        ...

    async def ticks(self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int) -> list[TickRecord]:
        """Ledger rows that touch (after, until], in order: a range that began before `after` and goes on is the first.

        The row that begins at `after` is not among them: to read on, give the first moment of the last row.
        """
        ...

    async def tick_keys(
        self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int
    ) -> list[tuple[Instant, str]]:
        """The idempotency keys that stand in the ledger for single moments in (after, until], in order."""
        ...

    async def shared_runs(self, uid: ScheduleUid, *, after: Instant) -> list[RunId]:
        """The runs that more than one ledger row names, of those that begin after `after`."""
        ...

    async def ledgers(
        self, *, after: ScheduleUid | None = None, limit: int = 100, ids: Collection[ScheduleId] | None = None
    ) -> list[Ledger]:
        """Schedules by uid with revisions, pauses and planned ticks, deleted ones included."""
        ...
