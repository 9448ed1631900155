"""What the queries port takes and returns about the whole installation: overview, health, counts, clocks."""

from collections.abc import Sequence
from typing import NamedTuple

from foliot.domain.clock import ClockFault
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import WorkerState
from foliot.domain.run.run import Run
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Schedule
from foliot.domain.workflow.execution import Execution


class Depth(NamedTuple):
    """The number of open runs by state, each counted up to a limit."""

    running: int
    """Cancelling ones included."""
    queued: int
    scheduled: int


class OverviewLimits(NamedTuple):
    """How many rows of each kind are read."""

    rows: int
    failures: int
    counted: int
    """Open runs are counted up to this number."""


class OverviewDetails(NamedTuple):
    depth: Depth
    executions: Sequence[Execution]
    """Open executions, oldest first."""
    running: Sequence[Run]
    queued: Sequence[Run]
    failures: Sequence[Run]
    """Newest first, like `running` and `queued`."""
    upcoming: Sequence[Schedule]
    """The schedules that are due next, in that order."""
    workers: Sequence[WorkerState]
    project_pause: ProjectPause | None
    """The project pause that was changed last, in force or not."""


class HealthLimits(NamedTuple):
    rows: int
    """How many rows of each kind are read."""
    counted: int
    """Open runs and late schedules are counted up to this number."""
    late_since: Instant
    """A schedule is late if it should have been decided at this time, or has been behind since then."""
    failed_since: Instant
    """Runs that were created earlier do not make a job a failing one."""


class StorageSize(NamedTuple):
    """Bytes on disk."""

    database: int
    """All tables but the logs."""
    logs: int
    free: int | None
    """What is left on the disk. None: that is not known, because the database is on a server."""
    engine: str = ""
    """The database: sqlite or postgresql."""


class Totals(NamedTuple):
    """Counts that do not grow with the history."""

    jobs: int
    """Without steps of workflows and the jobs of Foliot."""
    disabled: int
    """The disabled and paused ones among them."""
    pending_deliveries: int


class LongLease(NamedTuple):
    """A worker that has not renewed since the clock was set back. Its leases expire later by the size of that step."""

    worker: str
    expires_at: Instant


class ClockEffects(NamedTuple):
    """What a clock that was set back delays."""

    schedules: Sequence[Schedule]
    """Schedules with decided ticks in the future, the furthest first: they do not fire until then."""
    leases: Sequence[LongLease]
    """Only where the wall clock decides about leases."""


class HealthDetails(NamedTuple):
    """What shows whether schedules fire and runs are executed."""

    has_scheduler: bool
    """Whether a process with the role scheduler is alive: one of them leads."""
    workers: Sequence[WorkerState]
    depth: Depth
    ready_queues: Sequence[str]
    """The queues with runs that a worker may claim now."""
    late: Sequence[Schedule]
    """Late schedules that are not paused: overdue ones, then those behind; of each, the longest delay first."""
    late_count: int
    failing: Sequence[Run]
    """For each enabled job whose newest result is a failure: its newest failed run, newest first. Steps are left out.
    Only the newest 500 failed runs, and the newest 500 timeouts, are searched."""
    failing_count: int
    stopped: Sequence[JobId]
    """Jobs whose schedules were paused because of `pause_after_failures`, newest first."""
    size: StorageSize
    project_pause: ProjectPause | None
    """The project pause that was changed last, in force or not."""
    clock_faults: Sequence[ClockFault] = ()
    """Steps and differences of clocks that processes have saved, the newest first."""
