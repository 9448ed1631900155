"""All that is known of one schedule's ledger: the frame at once, the rows and the runs page by page."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Tick
from foliot.domain.schedule.schedule import Schedule
from foliot.domain.schedule.tick import PlannedTick, TickRecord
from foliot.domain.schedule.timetable import Timetable


class Launched(NamedTuple):
    """What a run says about where it comes from."""

    id: RunId
    job_id: JobId
    tick: Tick | None
    finished_at: Instant | None
    is_readable: bool = True


class Account(NamedTuple):
    """A schedule of which the rows after `after` are judged. `now` is a moment at which it was so."""

    schedule: Schedule
    deleted_at: Instant | None
    timetable: Timetable
    planned: Sequence[PlannedTick]
    after: Instant
    now: Instant
    has_older: bool = False
    """Whether there is a row that retention is said to have removed."""

    @property
    def was_renamed(self) -> bool:
        """Its ticks may have keys of a name that nobody remembers."""
        return any(revision.spec.seed for revision in self.timetable.revisions)


class Page(NamedTuple):
    """Some rows of the ledger, in order, and what is said about them elsewhere."""

    ticks: Sequence[TickRecord]
    keys: Mapping[Instant, str]
    """Of rows for one moment, as they are stored."""
    runs: Mapping[RunId, Launched]
    """Those that the rows name, as far as they are kept."""
