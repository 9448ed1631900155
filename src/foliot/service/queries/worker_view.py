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


def view_worker(state: WorkerState) -> WorkerView:
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
    )
