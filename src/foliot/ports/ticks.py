"""What the queries port takes and returns about ticks: rows of the ledgers, and one planned time."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.ids import RunId, ScheduleId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.run.results import RunState
from foliot.domain.run.run import Run
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Pause, Revision, Schedule
from foliot.domain.schedule.tick import PlannedTick, TickOutcome, TickRecord
from foliot.domain.schedule.timetable import Timetable
from foliot.errors import RowUnreadable


class LedgerRow(NamedTuple):
    """A row of the ledger."""

    record: TickRecord
    key: str | None
    """The idempotency key of the tick; a range has none."""
    decided_at: Instant
    """When the row was written."""
    error: RowUnreadable | None = None
    """Why the row cannot be read; the other fields have what could be read."""


class TickFilter(NamedTuple):
    """Which rows of the ledgers to list, newest first."""

    name: str | None = None
    """A job, a workflow or a schedule. None: all schedules."""
    since: Instant = Instant(0)
    until: Instant = LATEST
    """Rows that overlap [since, until]."""
    outcomes: frozenset[TickOutcome] = frozenset()
    """Empty: any, unless `has_failed_run`."""
    has_failed_run: bool = False
    """Also ticks that ran and whose run has failed or timed out."""
    limit: int = 50


class ListedTick(NamedTuple):
    schedule_id: ScheduleId
    row: LedgerRow


class TickPage(NamedTuple):
    ticks: Sequence[ListedTick]
    runs: Mapping[RunId, Run]
    """The runs of these ticks."""


class ScheduleLedger(NamedTuple):
    """A schedule with everything that `verify` needs to recompute its ticks."""

    schedule: Schedule
    deleted_at: Instant | None
    revisions: Sequence[Revision]
    pauses: Sequence[Pause]
    planned: Sequence[PlannedTick]
    boots: Sequence[Instant] = ()
    """The planned moments of its ticks for boots, in order."""
    project_pauses: Sequence[Pause] = ()
    """The pauses of all schedules of the project."""

    @property
    def timetable(self) -> Timetable:
        return Timetable(self.schedule.id, self.revisions, self.pauses, self.boots, self.project_pauses)


class TickDetails(NamedTuple):
    """A planned time of a schedule, with what was stored when it was decided."""

    schedule_id: ScheduleId
    at: Instant
    """The planned time that was asked for; if a row covers it, a time of that row."""
    schedule: Schedule | None
    """None: the schedule has been deleted."""
    revisions: Sequence[Revision]
    pauses: Sequence[Pause]
    project_pauses: Sequence[ProjectPause]
    """The pauses of all schedules that include the time, and the one that was changed last."""
    row: LedgerRow | None
    """The row of the ledger that covers the time. None: it was not decided, or it is not a planned time."""
    planned: PlannedTick | None
    """It waits for its jittered time."""
    before: LedgerRow | None
    """The newest row before it."""
    into: LedgerRow | None
    """For a coalesced tick: the row of the tick whose run also covers it."""
    in_flight: Sequence[Run]
    """For a tick that was skipped because of an overlap: the runs of the schedule that had not ended then."""
    stopped_at: Instant | None
    """When the schedules of its job were paused because of `pause_after_failures`."""
    has_scheduler: bool


class Account(NamedTuple):
    """What the planned times of an interval have become. A range that began before it, or ends after it, is counted by
    its share."""

    outcomes: Mapping[TickOutcome, int]
    late: int
    """How many of those that ran had to catch up."""
    failed_runs: int
    """How many of those that ran have a run that failed or timed out."""
    is_complete: bool
    """False: counting stopped at its limit."""


class LedgerFilter(NamedTuple):
    schedule_id: ScheduleId
    since: Instant
    until: Instant
    limit: int
    """How many rows are read, the newest ones."""


class LedgerDetails(NamedTuple):
    """The ledger of one schedule in an interval."""

    schedule: Schedule
    ticks: Sequence[ListedTick]
    """Rows that overlap the interval, newest first."""
    is_complete: bool
    """False: there are more rows."""
    states: Mapping[RunId, RunState]
    """Those of the runs of these ticks."""
    account: Account
    project_pause: ProjectPause | None
    """The project pause that was changed last, in force or not."""
