"""The upkeep port: leadership, retention, checks of the storage and of clocks, and expired workers."""

from collections.abc import Collection
from typing import NamedTuple, Protocol

from foliot.domain.clock import ClockFault, ClockReading
from foliot.domain.ids import WorkerId
from foliot.domain.instant import DAY, Instant, Millis
from foliot.domain.run.lease import ExpiredLease


class Retention(NamedTuple):
    """How long, and how many, finished rows are kept. None: no limit."""

    runs_age: Millis | None
    runs_per_job: int | None
    logs_age: Millis | None
    ticks_age: Millis | None
    events_age: Millis | None
    """Also for deliveries of notifications, from when they were delivered or failed for good."""
    executions_per_workflow: int | None = None
    executions_age: Millis | None = None
    executions_total: int | None = None
    audit_age: Millis | None = None
    items_age: Millis | None = Millis(DAY)
    """For items whose run was never created: an application stores the items of a fanout first."""


class Pruned(NamedTuple):
    """How many rows of each kind were removed."""

    runs: int
    logs: int
    ticks: int
    events: int
    schedules: int
    dedupe: int
    audit: int = 0
    is_more: bool = False
    """Whether rows were left or not checked yet. The next call continues there."""

    @property
    def total(self) -> int:
        return self.runs + self.logs + self.ticks + self.events + self.schedules + self.dedupe + self.audit

    @property
    def most(self) -> int:
        """The highest number among the kinds."""
        return max(self.runs, self.logs, self.ticks, self.events, self.schedules, self.dedupe, self.audit)


class Upkeep(Protocol):
    """Maintenance: one leader at a time, every write fenced by its epoch."""

    async def lead(self, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        """Become or stay leader for `ttl`. Return the epoch, or None while another process leads. Each new leader gets
        a higher epoch."""
        ...

    async def resign(self, holder: str) -> None: ...

    async def prune(self, retention: Retention, *, epoch: int, limit: int, at: Instant | None = None) -> Pruned | None:
        """Remove up to `limit` rows of each kind that retention no longer keeps. Return None if the epoch is not
        current.

        - Runs: never one that is not terminal; such a run is not counted among the newest of its job either.
        - Ticks: never one that is younger than the catch-up horizon of its schedule.
        - Executions: each with all its runs, after it has ended, and not while a gate may still read the end of one of
          these runs: while that end is in the longest window of the gates on its job, or is the latest of its job with
          its status.
        - Schedules that were deleted, or will not fire any more: after all their ticks and runs.

        Calls until `is_more` is False check every row once. A call that was cancelled or not committed has no effect on
        where the next one continues.
        """
        ...

    async def prune_executions(
        self, workflow_ids: Collection[str], retention: Retention, *, limit: int, at: Instant | None = None
    ) -> int:
        """Remove executions beyond the counts of `retention`, of these workflows and in total, as `prune` would.

        At most `limit` runs are removed. Return how many were. It is called when executions have ended and needs no
        leader.
        """
        ...

    async def check(self) -> None:
        """Return if this process may continue to write. Raise SchemaTooNew if a later version of Foliot has changed the
        schema incompatibly, and StorageGone if the open database is no longer the one at its URL."""
        ...

    async def probe(self) -> None:
        """Write and commit one row. Raise the error of a storage that can be read, but not written."""
        ...

    async def damages(self) -> list[str]:
        """Return what is damaged in the file of the database, as texts. Empty for a database on a server."""
        ...

    # -- clocks

    async def read_clocks(self) -> ClockReading:
        """Return the clock of the storage beside those of this process."""
        ...

    async def save_clock_fault(self, fault: ClockFault) -> None:
        """Replace the last fault of this kind of the process. Only the newest hundred are kept."""
        ...

    # -- expired workers

    async def worker_processes(self) -> list[tuple[WorkerId, str]]:
        """Return the workers that are not marked as expired and were registered with a process, and these processes."""
        ...

    async def expire_workers(self, worker_ids: Collection[WorkerId]) -> None:
        """Make workers expire now, because their processes have ended."""
        ...

    async def expired_leases(self, limit: int, *, at: Instant | None = None) -> list[ExpiredLease]:
        """Return leases of expired workers. An expired worker can neither renew nor claim."""
        ...

    async def remove_expired_workers(self, *, at: Instant | None = None) -> int:
        """Delete expired workers without leases. Return how many."""
        ...
