"""The part of the storage that removes what need not be kept. See `ports.storage` for what all verbs promise."""

from typing import NamedTuple, Protocol

from foliot.domain.instant import Instant, Millis
from foliot.domain.run.lease import ExpiredLease


class Retention(NamedTuple):
    """How long finished things are kept. None: for ever."""

    runs_age: Millis | None
    runs_per_job: int | None
    logs_age: Millis | None
    ticks_age: Millis | None
    events_age: Millis | None
    executions_per_workflow: int | None = None
    executions_age: Millis | None = None


class Pruned(NamedTuple):
    """How much of each kind was removed."""

    runs: int
    logs: int
    ticks: int
    events: int
    schedules: int
    dedupe: int
    is_more: bool = False
    """Whether something was left, or not yet looked at: then the next call goes on there."""

    @property
    def total(self) -> int:
        return self.runs + self.logs + self.ticks + self.events + self.schedules + self.dedupe

    @property
    def most(self) -> int:
        """How much of the kind of which most was removed."""
        return max(self.runs, self.logs, self.ticks, self.events, self.schedules, self.dedupe)


class Upkeep(Protocol):
    """Maintenance: one leader at a time, every write fenced by its epoch."""

    async def lead(self, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        """Become or stay leader for `ttl`. The epoch, or None while another one leads. Epochs rise with each change."""
        ...

    async def resign(self, holder: str) -> None: ...

    async def prune(self, retention: Retention, *, epoch: int, limit: int, at: Instant | None = None) -> Pruned | None:
        """Remove up to `limit` of each kind of what is older than it must be kept. None: the epoch is not current.

        Never removes a run that is not terminal, nor counts it among the newest of its job, nor a tick of a schedule
        that is younger than its catch-up horizon. An execution goes with all its parts, and none of them goes before it
        is over. A schedule goes that was deleted, or fired for the last time, so long ago that its ticks are gone, when
        there is no run of it any more. Whoever calls until there is no more has gone through everything once; what was
        given up, or not committed, is gone through again.
        """
        ...

    async def check(self) -> None:
        """Return if this process may go on. SchemaTooNew: a later Foliot has changed the schema so that this one must
        not write any more. StorageGone: what is written is not where others look."""
        ...

    # -- expired workers

    async def expired_leases(self, limit: int, *, at: Instant | None = None) -> list[ExpiredLease]:
        """Leases of workers that have expired. An expired worker can neither renew nor claim."""
        ...

    async def remove_expired_workers(self, *, at: Instant | None = None) -> int:
        """Delete expired workers that hold no lease any more."""
        ...
