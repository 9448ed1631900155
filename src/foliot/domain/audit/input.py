"""The input of an audit: the schedule and its timetable as a whole, rows and runs page by page."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Tick
from foliot.domain.schedule.schedule import Schedule
from foliot.domain.schedule.tick import PlannedTick, TickRecord
from foliot.domain.schedule.timetable import Timetable


class LaunchedRun(NamedTuple):
    """A run and the tick that it was created for."""

    id: RunId
    job_id: JobId
    tick: Tick | None
    finished_at: Instant | None
    is_readable: bool = True


class RecentRows(NamedTuple):
    """The rows of one ledger since a moment, and the runs of its schedule."""

    ticks: Sequence[TickRecord]
    """In order. The last row before the moment is the first."""
    keys: Mapping[Instant, str]
    runs: Sequence[LaunchedRun]
    """The runs that were created since the moment, the last one before, and those that the rows name, newest first."""


class AuditInput(NamedTuple):
    """A schedule whose rows after `after` are checked. `now` is the time at which it was read."""

    schedule: Schedule
    deleted_at: Instant | None
    timetable: Timetable
    planned: Sequence[PlannedTick]
    after: Instant
    now: Instant
    has_older: bool = False
    """Whether there is a row before the recorded start of the ledger."""

    @property
    def was_renamed(self) -> bool:
        """Whether ticks may have keys that were made from an earlier id, which is not stored."""
        return any(revision.spec.seed for revision in self.timetable.revisions)


class Page(NamedTuple):
    """Some rows of the ledger, in order, with related data."""

    ticks: Sequence[TickRecord]
    keys: Mapping[Instant, str]
    """The stored keys of rows for one moment."""
    runs: Mapping[RunId, LaunchedRun]
    """The runs that the rows name and that are still stored."""
