"""The admission port: starts due runs according to their gates and limits."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from foliot.domain.gate.decision import Decided, DependencyState, End, Gated, Postponed
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import WorkerState
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status


class Released(NamedTuple):
    """How many due runs became ready or began to wait for a limit, and when the next one is due."""

    count: int  # type: ignore[assignment]  # hides tuple.count, which is never used on this
    next_due_at: Instant | None


class Admission(Protocol):
    async def release_due(self, limit: int, *, at: Instant | None = None) -> Released:
        """Make due scheduled runs ready; those with limits begin to wait for a place.

        Runs that wait for their gate stay unchanged. A run whose limits cannot be read is handled as one without:
        `claim` ends it.
        """
        ...

    async def admit(self, limit: int, *, at: Instant | None = None) -> int:
        """Assign free places to waiting runs, in rank order. A run gets all its places or none. Idempotent.

        Every verb that frees places does this for its keys; a call for all keys completes what a crash interrupted.
        """
        ...

    async def ready(self, queue: str, limit: int) -> list[RunId]:
        """Return the next ready runs in rank order, without claiming them, to be announced by a broker."""
        ...

    async def workers(self, *, at: Instant | None = None) -> list[WorkerState]:
        """Return all registered workers."""
        ...

    # -- gates

    async def gated(self, limit: int, *, at: Instant | None = None) -> tuple[Instant, list[Gated]]:
        """Return the time and up to `limit` due runs that wait for their gate, oldest first. Changes nothing."""
        ...

    async def decide_gates(
        self, decided: Sequence[Decided], postponed: Sequence[Postponed], *, at: Instant | None = None
    ) -> list[RunId]:
        """Save the decisions of gates about runs that still wait for them. Return the runs whose decision was saved.

        `run` makes a run ready or lets it wait for its limits, like any due run; `skip` and `fail` end it with the
        reason of the decision. The decision is stored with the run. A postponed run keeps waiting. Retries are not
        gated again.
        """
        ...

    async def dependency_states(
        self, job_ids: Collection[JobId], *, after: Instant, until: Instant
    ) -> dict[JobId, DependencyState]:
        """Return for each job its latest end in (after, until] if it is watched, and whether a run is expected at
        `until`.

        One index look-up for each, at any length of history; expected runs are searched among the newest 50.
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
        """Return the latest end of a watched job, up to `until`, with one of the statuses and one of the reasons."""
        ...

    async def decisions(self, run_ids: Collection[RunId]) -> dict[RunId, bytes]:
        """Return the stored gate decisions of these runs, as JSON (`domain.gate.decision.Decision`)."""
        ...
