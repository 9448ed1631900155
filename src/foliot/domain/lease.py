"""Leases: the right, for a while, to write about a run.

A worker proves that it is alive by renewing one row for everything it holds. Each grant has a token of its own;
whoever writes about a running run must name the token that is current, and a former holder changes nothing.
"""

from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from foliot.domain.ids import JobId, RunId, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run import Tick, Verdict


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
    """A granted lease with all that is needed to execute the run and to write about it afterwards."""

    run_id: RunId
    token: Token
    worker_id: WorkerId
    job_id: JobId
    job_revision: int | None
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
    root: RunId | None = None
    """The run that this one is a part of, with what it is there."""
    role: str | None = None
    item: str | None = None
    scheduled_for: Instant | None = None
    """The planned moment that the run was made for, with a tick of ours or without."""


class Finish(Struct, frozen=True, gc=False):
    """What one ended attempt makes of its run; saved only while the claim's token is current."""

    claim: Claim
    verdict: Verdict


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
