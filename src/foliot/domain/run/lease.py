"""Leases: the right of a worker, for a limited time, to change a run.

A worker proves that it is alive by renewing one row for all its leases. Each lease has its own token. A change to a
running run must name the current token; a change with an older token has no effect.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct

from foliot.domain.ids import DefinitionId, JobId, RunId, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run.lane import TREES_QUEUE, missing_in, offers_of, split_lane
from foliot.domain.run.outcome import Outcome
from foliot.domain.run.run import Tick

APP_EXECUTOR: Final = WorkerId("@executor")
"""Holds the leases of runs that the executor of the application has. It is no worker: it does not renew, claim or
expire. Not to be confused with `domain.run.lane.Executor`, the option of a job."""


class Order(StrEnum):
    """What an administrator has ordered a worker to do. In each case it gets no new runs."""

    NONE = ""
    PAUSE = "pause"
    """Finish what it runs, and wait until it is resumed."""
    DRAIN = "drain"
    """Finish what it runs, and stop."""


class WorkerFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which runs a worker may have, and what is shown of it."""

    labels: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """The kinds of jobs that it executes. Empty: all."""
    is_remote: bool = False
    """Whether it has no access to the database."""
    pool: str = ""
    """The enrolment or the token of a remote worker."""
    version: str = ""
    """The version of its code."""
    environment: str = ""
    """Where it runs: language, system and machine."""

    @property
    def offers(self) -> frozenset[str]:
        return offers_of(self.labels, is_remote=self.is_remote)


LOCAL: Final = WorkerFacts()


class Worker(NamedTuple):
    """A worker process. `id` is new at every start, `name` is a label for people."""

    id: WorkerId
    name: str
    queues: tuple[str, ...]
    slots: int
    process: str = ""
    """The identity of its process (`ports.processes`), or empty. Not read back."""
    facts: WorkerFacts = LOCAL


class WorkerState(NamedTuple):
    worker: Worker
    registered_at: Instant
    seen_at: Instant
    is_alive: bool
    running: int
    is_draining: bool = False
    """Whether it stops: it finishes what it runs and claims nothing more."""
    order: Order = Order.NONE

    @property
    def takes_runs(self) -> bool:
        return self.is_alive and not self.is_draining and self.order is Order.NONE

    def serves(self, lane: str) -> bool:
        """Return whether it claims runs of a lane."""
        queue, needs = split_lane(lane)
        return self.takes_runs and queue in self.worker.queues and not self.missing(queue, needs)

    def missing(self, queue: str, needs: Sequence[str]) -> list[str]:
        """Return what it lacks of what a run of a queue needs."""
        return [] if queue == TREES_QUEUE else missing_in(needs, self.worker.facts.offers)


class Claim(Struct, frozen=True, gc=False):
    """A granted lease, with everything needed to execute the run."""

    run_id: RunId
    token: Token
    worker_id: WorkerId
    job_id: JobId
    definition_id: DefinitionId
    """What to execute. The definition is sent with the claim unless the worker has it already."""
    attempt: int
    """The number of this attempt, from 1."""
    lost: int
    queue: str
    priority: int
    due_at: Instant
    started_at: Instant
    payload: bytes | None
    overrides: bytes | None
    """Options of this run alone, as JSON."""
    limit_keys: tuple[str, ...]
    tick: Tick | None
    parent_id: RunId | None = None
    """The tree that this run is a child of."""
    child_key: str | None = None
    """Its key in that tree, for example the name of a step."""
    scheduled_for: Instant | None = None
    """The planned moment of the run, from a tick or from the caller of a launcher."""


class Finish(Struct, frozen=True, gc=False):
    """How one attempt ended. Saved only while the token is current. The storage, not the worker, decides what it means
    for the run."""

    run_id: RunId
    worker_id: WorkerId
    token: Token
    outcome: Outcome


class ExpiredLease(NamedTuple):
    """A lease whose worker has expired, or a lease of the executor that is to end."""

    run_id: RunId
    worker_id: WorkerId
    token: Token
    attempt: int
    is_cancelled: bool = False
    """Whether cancellation of the run was requested."""


class Renewal(NamedTuple):
    """The result of a heartbeat."""

    cancelled: tuple[Token, ...]
    """Leases of this worker whose run is to be cancelled."""
    foreign: tuple[Token, ...]
    """Leases of this worker that it did not list, because the response to its claim was lost. They were released."""
    gone: tuple[Token, ...]
    """Listed leases that this worker no longer holds."""
    order: Order = Order.NONE


class CancelAnswer(StrEnum):
    """The result of a request to cancel a run."""

    CANCELLED = "cancelled"
    """The run had not started and will not start."""
    REQUESTED = "requested"
    """The run is running. Its worker was asked to stop it."""
    PENDING = "pending"
    """Cancellation had been requested before."""
    TERMINAL = "terminal"
    """The run had ended: nothing changed."""
    NOT_FOUND = "not_found"
