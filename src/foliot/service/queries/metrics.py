"""The metrics of an installation: what the database contains now, and what a meter has counted."""

from collections.abc import Sequence
from typing import Final

import msgspec

from foliot.domain.chain.class_state import BreakerState
from foliot.domain.instant import SECOND, Instant
from foliot.domain.run.lane import TREES_QUEUE
from foliot.ports.clock import Clock
from foliot.ports.health import HealthLimits
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.service.queries.chain_view import view_class
from foliot.service.queries.delivery_notices import FAILED_FOR
from foliot.service.queries.events import EventQueries
from foliot.service.queries.meter import Meter
from foliot.service.queries.overview import DepthView
from foliot.service.queries.status import FAILING, StorageView

_COUNTED: Final = 10_000
_FAILED: Final = 1_000
_NEWEST: Final = 20
"""The last end of a run is looked for among so many of the newest runs, until the meter has counted one."""


class ClassMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """A class of chains."""

    id: str
    active: int
    breaker: BreakerState
    stopped: bool


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What the database contains now. Open runs, due schedules and waiting deliveries are counted up to 10,000, failed
    deliveries up to 1,000."""

    jobs: int
    jobs_disabled: int
    """Paused ones included."""
    schedules_due: int
    """Schedules with a due tick that is not decided yet."""
    depth: DepthView
    has_scheduler: bool
    workers: int
    """The living ones."""
    worker_slots: int
    deliveries_pending: int
    deliveries_failed: int
    """Those of the last seven days whose receivers have accepted none since."""
    classes: Sequence[ClassMetrics]
    storage: StorageView
    last_finish_age: float | None
    """Seconds since a run has ended. None: none is known."""


class MetricsQuery:
    def __init__(self, storage: Storage, clock: Clock, events: EventQueries) -> None:
        self._storage = storage
        self._clock = clock
        self.meter = Meter(storage, events)

    async def snapshot(self) -> Snapshot:
        now, queries = self._clock.now(), self._storage.queries
        health = await queries.health(
            HealthLimits(rows=1, counted=_COUNTED, late_since=now, failed_since=Instant(now - FAILING))
        )
        totals = await queries.totals(counted=_COUNTED)
        failed = await self._storage.deliveries.failed(Instant(now - FAILED_FOR), limit=_FAILED)
        last = await self._last_finish()
        # A coordinator executes no jobs.
        alive = [one for one in health.workers if one.is_alive and one.worker.queues != (TREES_QUEUE,)]
        return Snapshot(
            jobs=totals.jobs,
            jobs_disabled=totals.disabled,
            schedules_due=health.late_count,
            depth=DepthView(**health.depth._asdict()),
            has_scheduler=health.has_scheduler,
            workers=len(alive),
            worker_slots=sum(one.worker.slots for one in alive),
            deliveries_pending=totals.pending_deliveries,
            deliveries_failed=len(failed),
            classes=await self._classes(now),
            storage=StorageView(**health.size._asdict()),
            last_finish_age=None if last is None else max(0, now - last) / SECOND,
        )

    async def _classes(self, now: Instant) -> list[ClassMetrics]:
        views = [view_class(one, now) for one in await self._storage.queries.chain_classes()]
        return [
            ClassMetrics(id=view.id, active=len(view.active_chains), breaker=view.breaker, stopped=view.stopped)
            for view in views
        ]

    async def _last_finish(self) -> Instant | None:
        if self.meter.last_finish is None:
            runs = await self._storage.queries.page_runs(RunFilter(limit=_NEWEST))
            self.meter.last_finish = max((run.finished_at for run in runs if run.finished_at is not None), default=None)
        return self.meter.last_finish
