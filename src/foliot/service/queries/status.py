"""The status page: which processes are alive, what waits, and notices about problems that a person must solve."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec

from foliot.domain.chain.class_state import BreakerState, read_class
from foliot.domain.instant import DAY, SECOND, Instant, to_datetime
from foliot.domain.run.lane import TREES_QUEUE, needs_in_words, split_lane
from foliot.domain.run.run import Run
from foliot.domain.schedule.schedule import Schedule
from foliot.ports.chains import ChainClass
from foliot.ports.clock import Clock
from foliot.ports.health import HealthDetails, HealthLimits
from foliot.ports.storage import Storage
from foliot.service.queries.clock_notices import ClockNotice, clock_notices, is_set_back
from foliot.service.queries.delivery_notices import DeliveriesFailed as DeliveriesFailed
from foliot.service.queries.delivery_notices import delivery_notices
from foliot.service.queries.documents import moment
from foliot.service.queries.notice import BaseNotice
from foliot.service.queries.notice import State as State
from foliot.service.queries.overview import DepthView
from foliot.service.queries.pause_view import PauseView, current_pause
from foliot.service.queries.worker_view import WorkerView, view_worker

LATE: Final = 30 * SECOND
"""A schedule is late if it should have been decided longer ago than this."""
FAILING: Final = 7 * DAY
"""A job is failing if its newest result is a failure, and not older than this."""
LEAST_FREE: Final = 1 << 30
"""Bytes. Less free space on the disk of the database is reported."""
_ROWS: Final = 20
_COUNTED: Final = 10_000


# -- notices: each has a code, its state and values, without text


class StorageUnreachable(BaseNotice, frozen=True, kw_only=True, tag="storage_unreachable"):
    """The database could not be opened or read. The page then contains nothing else."""

    message: str
    hint: str
    state: State = State.DOWN


class NoScheduler(BaseNotice, frozen=True, kw_only=True, tag="no_scheduler"):
    """No scheduler is alive: schedules do not fire, and delayed runs do not start."""

    state: State = State.DOWN


class NoWorker(BaseNotice, frozen=True, kw_only=True, tag="no_worker"):
    """No worker is alive: nothing is executed."""

    state: State = State.DOWN


class QueuesUnserved(BaseNotice, frozen=True, kw_only=True, tag="queues_unserved"):
    """Runs wait in queues that no living worker serves."""

    queues: tuple[str, ...]
    state: State = State.ATTENTION


class LabelsUnserved(BaseNotice, frozen=True, kw_only=True, tag="labels_unserved"):
    """Runs wait for a worker with labels that no living worker of their queue has."""

    needs: tuple[tuple[str, ...], ...]
    """What the runs need: labels, and `executor=...`."""
    state: State = State.ATTENTION


class SchedulesLate(BaseNotice, frozen=True, kw_only=True, tag="schedules_late"):
    """Schedules were not decided in time, though a scheduler may be alive. Counting stops at 10,000."""

    count: int
    since: datetime | None
    """The time at which the first of them was due."""
    schedules: tuple[str, ...]
    """The first of them."""
    state: State = State.ATTENTION


class JobsFailing(BaseNotice, frozen=True, kw_only=True, tag="jobs_failing"):
    """The newest result of these jobs is a failure of the last seven days."""

    count: int
    jobs: tuple[str, ...]
    """Those with the newest failures."""
    state: State = State.ATTENTION


class JobsStopped(BaseNotice, frozen=True, kw_only=True, tag="jobs_stopped"):
    """The schedules of these jobs were paused after `pause_after_failures` failed runs in a row."""

    jobs: tuple[str, ...]
    state: State = State.ATTENTION


class OpenBreaker(msgspec.Struct, frozen=True, kw_only=True):
    class_id: str
    until: datetime
    cause: str


class BreakersOpen(BaseNotice, frozen=True, kw_only=True, tag="breakers_open"):
    """Classes of chains arm no chain, because too many failed or one tried to exceed a limit."""

    breakers: tuple[OpenBreaker, ...]
    """By class."""
    state: State = State.ATTENTION


class DiskLow(BaseNotice, frozen=True, kw_only=True, tag="disk_low"):
    free: int
    state: State = State.ATTENTION


Notice = (
    StorageUnreachable
    | NoScheduler
    | NoWorker
    | QueuesUnserved
    | LabelsUnserved
    | SchedulesLate
    | JobsStopped
    | JobsFailing
    | DiskLow
    | BreakersOpen
    | DeliveriesFailed
    | ClockNotice
)

# -- the page


class LateSchedule(msgspec.Struct, frozen=True, kw_only=True):
    schedule_id: str
    since: datetime | None
    """When it should have been decided, or since when it is behind."""
    is_behind: bool
    """It is decided, but has not caught up, or its rule cannot be evaluated."""
    unreadable: bool


class FailingJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job whose newest result is a failure."""

    job_id: str
    run_id: str
    status: str
    reason: str | None
    finished_at: datetime | None


class StorageView(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes on disk."""

    database: int
    logs: int
    free: int | None
    """None: not known, because the database is on a server."""
    engine: str
    """The database: sqlite or postgresql."""


class StatusPage(msgspec.Struct, frozen=True, kw_only=True):
    at: datetime
    state: State
    notices: list[Notice]
    """The most severe first."""
    paused: PauseView | None
    """The pause of all schedules, if one is in force."""
    has_scheduler: bool
    workers: list[WorkerView]
    depth: DepthView | None
    late: list[LateSchedule]
    failing: list[FailingJob]
    storage: StorageView | None


class StatusQuery:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._deliveries = storage.deliveries
        self._clock = clock

    async def page(self, classes: Sequence[ChainClass] | None = None) -> StatusPage:
        """Return the page. `classes`: all classes of chains, if they were read already."""
        now = self._clock.now()
        found = await self._queries.health(health_limits(now))
        known = await self._queries.chain_classes() if classes is None else classes
        breakers = breaker_notices(known, now)
        notices = [*notices_of(found), *breakers, *await self._clock_notices(found, now)]
        notices += [notice async for notice in delivery_notices(self._deliveries, now)]
        notices.sort(key=lambda notice: SEVEREST_FIRST.index(notice.state))
        return StatusPage(
            at=to_datetime(now),
            state=notices[0].state if notices else State.WELL,
            notices=notices,
            paused=current_pause(found.project_pause, now),
            has_scheduler=found.has_scheduler,
            workers=[view_worker(worker) for worker in found.workers],
            depth=DepthView(**found.depth._asdict()),
            late=[_late(schedule) for schedule in found.late],
            failing=[_failing(run) for run in found.failing],
            storage=StorageView(**found.size._asdict()),
        )

    async def _clock_notices(self, found: HealthDetails, now: Instant) -> list[ClockNotice]:
        is_waiting = is_set_back(found.clock_faults, now)
        effects = await self._queries.clock_effects(now, limit=_ROWS) if is_waiting else None
        return list(clock_notices(found.clock_faults, effects, now))


SEVEREST_FIRST: Final = (State.DOWN, State.ATTENTION, State.WELL)


def health_limits(now: Instant) -> HealthLimits:
    return HealthLimits(
        rows=_ROWS, counted=_COUNTED, late_since=Instant(now - LATE), failed_since=Instant(now - FAILING)
    )


def unreachable_page(message: str, hint: str, at: datetime) -> StatusPage:
    """Return the page for a database that could not be read."""
    return StatusPage(
        at=at,
        state=State.DOWN,
        notices=[StorageUnreachable(message=message, hint=hint)],
        paused=None,
        has_scheduler=False,
        workers=[],
        depth=None,
        late=[],
        failing=[],
        storage=None,
    )


def notices_of(found: HealthDetails) -> Iterator[Notice]:
    if not found.has_scheduler:
        yield NoScheduler()
    # A coordinator is a worker of the queue of trees only, and executes no jobs.
    if not any(worker.is_alive and worker.worker.queues != (TREES_QUEUE,) for worker in found.workers):
        yield NoWorker()
    else:
        yield from _unserved(found)
    if found.late_count:
        since = min((at for at in map(late_since, found.late) if at is not None), default=None)
        yield SchedulesLate(count=found.late_count, since=moment(since), schedules=_ids(found.late))
    if found.stopped:
        yield JobsStopped(jobs=tuple(found.stopped))
    if found.failing_count:
        yield JobsFailing(count=found.failing_count, jobs=tuple(run.job_id for run in found.failing))
    if found.size.free is not None and found.size.free < LEAST_FREE:
        yield DiskLow(free=found.size.free)


def breaker_notices(classes: Iterable[ChainClass], now: Instant) -> Iterator[BreakersOpen]:
    opened = ((one.class_id, read_class(one.document.body)) for one in classes)
    breakers = tuple(
        OpenBreaker(class_id=class_id, until=to_datetime(state.opened.until), cause=state.opened.cause)
        for class_id, state in opened
        if state.opened is not None and state.breaker(now) is BreakerState.OPEN
    )
    if breakers:
        yield BreakersOpen(breakers=breakers)


def _unserved(found: HealthDetails) -> Iterator[QueuesUnserved | LabelsUnserved]:
    lanes = [lane for lane in found.ready_queues if not any(worker.serves(lane) for worker in found.workers)]
    queues = dict.fromkeys(queue for queue, _ in map(split_lane, lanes))
    unserved = tuple(queue for queue in queues if not any(worker.serves(queue) for worker in found.workers))
    if unserved:
        yield QueuesUnserved(queues=unserved)
    if needs := [needed for queue, needed in map(split_lane, lanes) if needed and queue not in unserved]:
        yield LabelsUnserved(needs=tuple(tuple(needs_in_words(needed)) for needed in dict.fromkeys(needs)))


def _ids(schedules: Sequence[Schedule]) -> tuple[str, ...]:
    return tuple(schedule.id for schedule in schedules)


def late_since(schedule: Schedule) -> Instant | None:
    """Return when a late schedule should have been decided, or since when it is behind."""
    times = [at for at in (schedule.wake_at, schedule.behind_since) if at is not None]
    return min(times, default=None)


def _late(schedule: Schedule) -> LateSchedule:
    return LateSchedule(
        schedule_id=schedule.id,
        since=moment(late_since(schedule)),
        is_behind=schedule.behind_since is not None,
        unreadable=schedule.is_unreadable,
    )


def _failing(run: Run) -> FailingJob:
    return FailingJob(
        job_id=run.job_id,
        run_id=run.id,
        status=run.status,
        reason=run.reason,
        finished_at=moment(run.finished_at),
    )
