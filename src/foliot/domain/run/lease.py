"""Leases: the right, for a while, to write about a run.

A worker proves that it is alive by renewing one row for everything it holds. Each grant has a token of its own;
whoever writes about a running run must name the token that is current, and a former holder changes nothing.
"""

from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from foliot.domain.ids import DefinitionId, JobId, RunId, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run.outcome import Outcome
from foliot.domain.run.run import Tick


class Worker(NamedTuple):
    """A worker process. `id` is new at every start, `name` is a label for people."""

    id: WorkerId
    name: str
    queues: tuple[str, ...]
    slots: int


class WorkerState(NamedTuple):
    worker: Worker
    registered_at: Instant
    seen_at: Instant
    is_alive: bool
    running: int


class Claim(Struct, frozen=True, gc=False):
    """A granted lease with what is needed to execute the run."""

    run_id: RunId
    token: Token
    worker_id: WorkerId
    job_id: JobId
    definition_id: DefinitionId
    """What to do; the definition comes with the claim unless the worker has it already."""
    attempt: int
    """The number of this try, from 1."""
    lost: int
    queue: str
    priority: int
    due_at: Instant
    started_at: Instant
    payload: bytes | None
    overrides: bytes | None
    """Options given for this run alone, as JSON."""
    limit_keys: tuple[str, ...]
    tick: Tick | None
    parent_id: RunId | None = None
    """The tree that this run is a child of, and as what: the name of a step, for example."""
    child_key: str | None = None
    scheduled_for: Instant | None = None
    """The planned moment that the run was made for, with a tick of ours or without."""


class Finish(Struct, frozen=True, gc=False):
    """How one attempt ended; saved only while the token is current. What it means for the run is not the worker's to
    say."""

    run_id: RunId
    worker_id: WorkerId
    token: Token
    outcome: Outcome


class ExpiredLease(NamedTuple):
    """A lease whose worker has expired."""

    run_id: RunId
    worker_id: WorkerId
    token: Token
    attempt: int


class Renewal(NamedTuple):
    """The answer to a heartbeat."""

    cancelled: tuple[Token, ...]
    """Leases of this worker whose run somebody has asked to cancel."""
    foreign: tuple[Token, ...]
    """Leases in this worker's name that it did not list: grants whose answer never arrived. They were given back."""
    gone: tuple[Token, ...]
    """Listed leases that this worker holds no longer."""


class CancelAnswer(StrEnum):
    """What asking for a cancel did."""

    CANCELLED = "cancelled"
    """It had not started and never will."""
    REQUESTED = "requested"
    """It is running; its worker has been told to end it."""
    PENDING = "pending"
    """It was asked for before."""
    TERMINAL = "terminal"
    """It is over: nothing changed."""
    NOT_FOUND = "not_found"
