"""All that is known of one schedule's ledger, to be judged at once."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run import Tick
from foliot.domain.schedule import Schedule
from foliot.domain.tick import PlannedTick, TickRecord
from foliot.domain.timetable import Timetable


class Launched(NamedTuple):
    """What a run says about where it comes from."""

    id: RunId
    job_id: JobId
    tick: Tick | None
    finished_at: Instant | None


class Account(NamedTuple):
    """A schedule and its rows after `after`, in order. `now` is a moment at which it was so."""

    schedule: Schedule
    deleted_at: Instant | None
    timetable: Timetable
    planned: Sequence[PlannedTick]
    ticks: Sequence[TickRecord]
    keys: Mapping[Instant, str]
    """Of rows for one moment, as they are stored."""
    runs: Mapping[RunId, Launched]
    """Those that ticks name, and those that say they are the schedule's; older ones may be among them."""
    after: Instant
    now: Instant
    has_older: bool = False
    """Whether there is a row that retention is said to have removed."""

    @property
    def settled(self) -> list[TickRecord]:
        return [tick for tick in self.ticks if tick.scheduled_for <= self.schedule.settled_until]

    @property
    def was_renamed(self) -> bool:
        """Its ticks may have keys of a name that nobody remembers."""
        return any(revision.spec.seed for revision in self.timetable.revisions)
