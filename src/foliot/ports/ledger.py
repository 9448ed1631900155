"""The ledger port, used by the scheduler: turns due schedules into ticks and runs."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job
from foliot.domain.schedule.firing import DueSchedule, Firing
from foliot.errors import RowUnreadable


class Unreadable(NamedTuple):
    """A due schedule that cannot be decided, because its row or the row of its job cannot be read."""

    uid: ScheduleUid
    id: ScheduleId
    error: RowUnreadable


class DueBatch(NamedTuple):
    """Schedules that are due at `now`, and the jobs that they start."""

    now: Instant
    schedules: Sequence[DueSchedule]
    jobs: Mapping[JobId, Job]
    unreadable: Sequence[Unreadable] = ()
    """Due as well; they count towards the limit of the batch."""
    pause_version: int = 0
    """The version of the project pauses (`domain.schedule.project_pause`)."""

    @property
    def size(self) -> int:
        """The number of due schedules, readable or not."""
        return len(self.schedules) + len(self.unreadable)


class Ledger(Protocol):
    async def due(self, limit: int, *, at: Instant | None = None) -> DueBatch:
        """Return up to `limit` schedules whose `wake_at` has passed, earliest first. Takes no lock and changes nothing.

        Return none while a project pause is in force. The pauses of each schedule include the project pauses.

        A schedule that cannot be read, or whose job cannot, does not affect the others.
        """
        ...

    async def due_after_boot(
        self, boot_id: str, booted_at: Instant, limit: int, *, at: Instant | None = None
    ) -> DueBatch:
        """Return up to `limit` schedules with the rule `@reboot` that were created before this boot and have no
        recorded decision about it. Takes no lock and changes nothing.

        The boot of the process that creates such a schedule, or edits one into it, counts as decided.
        """
        ...

    async def commit_firings(
        self, firings: Sequence[Firing], *, pause_version: int | None = None, at: Instant | None = None
    ) -> list[ScheduleUid]:
        """Save ticks, runs and the advanced watermark of each firing in one transaction. Return the saved uids.

        A firing whose schedule has another version by now changes nothing. Nothing is saved if the project
        pauses have another version than `pause_version` by now; without `pause_version` they are not compared.

        Runs are created as by `Orders.create`; each holds its schedule's overlap key until it is terminal. With
        `cancels_running` every earlier run of the schedule that is not terminal is cancelled, started or not. With
        `boot` the decision about that boot is recorded.
        """
        ...

    async def next_wake(self, *, besides: Collection[ScheduleUid] = ()) -> Instant | None:
        """Return when the next schedule is due, without those in `besides`. None: no schedule will be due, or a
        project pause without an end is in force. One index look-up, at any number of schedules."""
        ...
