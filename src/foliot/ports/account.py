"""What the queries port returns about the ledgers of an interval: counts, and the rows of one schedule."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.ids import RunId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.run.results import RunState
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Schedule
from foliot.domain.schedule.tick import TickOutcome
from foliot.ports.pages import ListedTick


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
