"""The admission port: what lets due runs start: their moment, their gates and their limits."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from foliot.domain.gate.decision import DependencyState, End, Gated, Passed, Postponed
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import WorkerState
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status


class Released(NamedTuple):
    """How many due runs became ready or wait for a limit, and when the next one is due."""

    count: int  # type: ignore[assignment]  # hides tuple.count, which is never used on this
    next_due_at: Instant | None


class Admission(Protocol):
    async def release_due(self, limit: int, *, at: Instant | None = None) -> Released:
        """Make scheduled runs ready whose moment has come; those with limits begin to wait for them.

        Runs that wait for their gate are left alone. A run whose limits cannot be read has none: `claim` ends it.
        """
        ...

    async def admit(self, limit: int, *, at: Instant | None = None) -> int:
        """Give free places to waiting runs, in rank order, all places of a run or none. Safe to repeat.

        Every verb that frees places does this for the keys it touches; repeating it for all keys repairs what a crash
        left undone.
        """
        ...

    async def ready(self, queue: str, limit: int) -> list[RunId]:
        """The next runs that may start, in rank order, without taking them: what a broker is to announce."""
        ...

    async def workers(self, *, at: Instant | None = None) -> list[WorkerState]:
        """All registered workers."""
        ...

    # -- gates

    async def gated(self, limit: int, *, at: Instant | None = None) -> tuple[Instant, list[Gated]]:
        """Now, and up to `limit` due runs that wait for their gate, oldest first. Changes nothing."""
        ...

    async def pass_gates(
        self, passed: Sequence[Passed], postponed: Sequence[Postponed], *, at: Instant | None = None
    ) -> list[RunId]:
        """Save the decisions of gates about runs that still wait for them. Returns the runs whose decision was saved.

        `run` makes a run ready, or lets it wait for its limits, like any due run; `skip` and `fail` end it with the
        decision's reason. The decision is kept with the run. A postponed run waits on. A retry is not gated again.
        """
        ...

    async def sights(
        self, job_ids: Collection[JobId], *, after: Instant, until: Instant
    ) -> dict[JobId, DependencyState]:
        """For each job: its latest end in (after, until] if it is watched, and whether a run is expected at `until`.

        One index look-up for each, however long the history; expected runs are looked for among the newest 50.
        """
        ...

    async def latest_end(
        self,
        job_id: JobId,
        statuses: Collection[Status],
        *,
        reasons: Collection[Reason] | None = None,
        until: Instant,
    ) -> End | None:
        """The latest end of a watched job, up to `until`, that has one of the statuses and one of the reasons."""
        ...

    async def decisions(self, run_ids: Collection[RunId]) -> dict[RunId, bytes]:
        """The decisions of gates about these runs, as JSON (`domain.gate.decision.Decision`)."""
        ...
