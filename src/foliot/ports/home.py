"""What the queries port returns for the home page: what failed, what runs, what is next, what was missed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.results import RunResult
from foliot.domain.run.run import Run
from foliot.domain.schedule.schedule import Schedule
from foliot.ports.health import Totals
from foliot.ports.job_rows import JobRows
from foliot.ports.pages import Blockers
from foliot.ports.ticks import Account


class HomeFilter(NamedTuple):
    since: Instant
    """Planned times are counted from this time on."""
    until: Instant
    waiting_since: Instant
    """Queued runs that were due later are left out."""
    failing: Mapping[JobId, RunId] = {}
    """Failing jobs, each with its newest failed run."""


class MissedTicks(NamedTuple):
    """The planned times of a schedule that were missed."""

    schedule: Schedule
    count: int  # type: ignore[assignment]  # hides tuple.count, which has no use here
    since: Instant
    until: Instant
    reasons: Sequence[str]


class HomeDetails(NamedTuple):
    totals: Totals
    account: Account
    missed: Sequence[MissedTicks]
    """Those with the most missed times first."""
    missed_count: int
    """The number of schedules with missed times."""
    failing: Mapping[RunId, Run]
    """The failed runs of the failing jobs."""
    running: Sequence[Run]
    waiting: Sequence[Run]
    """Queued runs."""
    blockers: Blockers
    """What the waiting runs wait for."""
    ended: Sequence[Run]
    """Runs that have ended, of the newest 100 runs that are no children, newest first."""
    upcoming: Sequence[Schedule]
    """The schedules that are due next, in that order."""
    results: Mapping[str, Sequence[RunResult]]
    """The newest runs of the failing jobs, and of the jobs of the running runs, newest first."""
    rows: JobRows
    """The failing jobs, and those of the missed ticks."""
