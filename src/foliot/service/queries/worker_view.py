"""The view of a worker."""

from datetime import datetime

import msgspec

from foliot.domain.instant import to_datetime
from foliot.domain.run.lease import WorkerState


class WorkerView(msgspec.Struct, frozen=True, kw_only=True):
    """A worker process."""

    id: str
    name: str
    queues: tuple[str, ...]
    slots: int
    running: int
    is_alive: bool
    is_draining: bool
    registered_at: datetime
    seen_at: datetime
    order: str = ""
    """pause or drain, if an administrator has ordered it: it gets no new runs."""
    labels: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """The kinds of jobs that it executes. Empty: all."""
    is_remote: bool = False
    """Whether it reaches the server by HTTP, without the database."""
    pool: str = ""
    """The enrolment or token of a remote worker."""
    version: str = ""
    """The version of its code."""
    environment: str = ""
    """Where it runs: language, system and machine."""


def view_worker(state: WorkerState) -> WorkerView:
    facts = state.worker.facts
    return WorkerView(
        id=state.worker.id,
        name=state.worker.name,
        queues=state.worker.queues,
        slots=state.worker.slots,
        running=state.running,
        is_alive=state.is_alive,
        is_draining=state.is_draining,
        registered_at=to_datetime(state.registered_at),
        seen_at=to_datetime(state.seen_at),
        order=state.order,
        labels=facts.labels,
        kinds=facts.kinds,
        is_remote=facts.is_remote,
        pool=facts.pool,
        version=facts.version,
        environment=facts.environment,
    )
