"""A storage and a clock, with helpers for the steps that most tests begin with. Every verb uses the clock's time."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from typing import Any, ClassVar

import pytest

from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, Token
from foliot.domain.instant import DAY, LATEST, Instant, Millis, later
from foliot.domain.job.job import Job
from foliot.domain.run.lease import LOCAL, CancelAnswer, Claim, Finish, Worker, WorkerFacts
from foliot.domain.run.run import NewRun, Run, Status
from foliot.domain.schedule.firing import Firing, SchedulerSettings
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec
from foliot.domain.schedule.tick import TickRecord
from foliot.ports.admission import Released
from foliot.ports.health import Depth, OverviewDetails, OverviewLimits
from foliot.ports.ledger import DueBatch
from foliot.ports.storage import Storage
from foliot.ports.ticks import LedgerRow
from foliot.ports.upkeep import Pruned, Retention
from foliot.testing.builders import LEASE, NIGHTLY, REPORT, a_job_spec, a_run, a_schedule, a_worker, fire
from foliot.testing.clock import VirtualClock
from foliot.testing.invariants import check_invariants

ANY_TIME = 1_000
Another = Callable[[], Awaitable[Storage]]
"""The type of the fixture `another`, which opens the same database again, as another process would."""


class Scene:
    def __init__(self, storage: Storage, clock: VirtualClock) -> None:
        self.storage = storage
        self.clock = clock
        self._standby: Worker | None = None

    @property
    def now(self) -> Instant:
        return self.clock.now()

    def after(self, span: Millis | int) -> Instant:
        return later(self.clock.now(), span)

    # -- runs

    async def create(self, *runs: NewRun) -> list[RunId]:
        created = await self.storage.orders.create(runs, at=self.now)
        return [answer.run_id for answer in created]

    async def release(self, limit: int = 100) -> Released:
        return await self.storage.admission.release_due(limit, at=self.now)

    async def ready(self, queue: str = "default") -> list[RunId]:
        return await self.storage.admission.ready(queue, 100)

    async def claim(
        self,
        limit: int = 100,
        *,
        worker: Worker | None = None,
        queues: Sequence[str] = ("default",),
        only: Collection[RunId] | None = None,
    ) -> list[Claim]:
        holder = worker or await self.standby()
        return (await self.storage.work.claim(holder.id, queues, limit, only=only, at=self.now)).claims

    async def start(self, run: NewRun | None = None, *, worker: Worker | None = None) -> Claim:
        """Create a run and lease it."""
        [run_id] = await self.create(run or a_run())
        [claim] = await self.claim(worker=worker, only=[run_id], queues=[run.options.queue if run else "default"])
        return claim

    async def finish(self, *finishes: Finish) -> list[Token]:
        return await self.storage.work.finish(finishes, at=self.now)

    async def cancel(self, *run_ids: RunId) -> list[CancelAnswer]:
        answers = await self.storage.orders.cancel(run_ids, at=self.now)
        return [answers[run_id] for run_id in run_ids]

    async def run(self, run_id: RunId) -> Run:
        return (await self.storage.queries.get_runs([run_id]))[run_id]

    async def status(self, run_id: RunId) -> Status:
        return (await self.run(run_id)).status

    async def statuses(self, *run_ids: RunId) -> list[Status]:
        found = await self.storage.queries.get_runs(run_ids)
        return [found[run_id].status for run_id in run_ids]

    # -- workers

    async def worker(
        self,
        name: str = "worker",
        *,
        ttl: Millis = LEASE,
        queues: Sequence[str] = ("default",),
        facts: WorkerFacts = LOCAL,
    ) -> Worker:
        """Register a worker and return it."""
        worker = a_worker(name, queues=queues, facts=facts)
        await self.storage.work.register(worker, ttl, at=self.now)
        return worker

    async def standby(self) -> Worker:
        """Return the default worker, whose lease outlasts any test."""
        self._standby = self._standby or await self.worker("standby", ttl=Millis(ANY_TIME * DAY))
        return self._standby

    # -- jobs and schedules

    async def job(self, job_id: str = REPORT, **fields: Any) -> Job:
        [job] = await self.storage.definitions.put_jobs([(JobId(job_id), a_job_spec(**fields))], at=self.now)
        return job

    async def schedule(self, spec: ScheduleSpec | None = None, *, schedule_id: str = NIGHTLY) -> Schedule:
        """Put a schedule, and its job if that does not exist."""
        new = a_schedule(spec, schedule_id=schedule_id)
        job_id = new.spec.job_id
        if job_id is not None and not await self.storage.definitions.get_jobs([job_id]):
            await self.job(job_id)
        [schedule] = await self.storage.definitions.put_schedules([new], at=self.now)
        return schedule

    async def stored(self, schedule_id: ScheduleId = NIGHTLY) -> Schedule:
        return (await self.storage.definitions.get_schedules([schedule_id]))[schedule_id]

    async def pause(self, *, paused: bool, schedule_id: ScheduleId = NIGHTLY) -> Schedule:
        [schedule] = await self.storage.definitions.pause_schedules([schedule_id], paused=paused, at=self.now)
        return schedule

    async def due(self, limit: int = 100) -> DueBatch:
        return await self.storage.ledger.due(limit, at=self.now)

    async def decide(self, scheduler: SchedulerSettings | None = None) -> list[Firing]:
        """Return the firings that the scheduler would save now."""
        batch = await self.due()
        return [fire(due, batch.now, jobs=batch.jobs, scheduler=scheduler) for due in batch.schedules]

    async def settle(self, *firings: Firing) -> list[ScheduleUid]:
        return await self.storage.ledger.commit_firings(firings, at=self.now)

    async def fire(self, scheduler: SchedulerSettings | None = None) -> list[RunId]:
        """Do one round of the scheduler and return the created runs."""
        firings = await self.decide(scheduler)
        await self.settle(*firings)
        return [run.id for firing in firings for run in firing.runs]

    async def fire_after(self, span: Millis | int) -> list[RunId]:
        self.clock.advance(span)
        return await self.fire()

    async def latest_ticks(self, limit: int, schedule_id: ScheduleId = NIGHTLY) -> Sequence[LedgerRow]:
        """Return the newest ticks of the schedule page, newest first."""
        found = await self.storage.queries.schedule(schedule_id, ticks=limit)
        return () if found is None else found.ticks

    async def ticks(self, uid: ScheduleUid) -> list[TickRecord]:
        return await self.storage.queries.ticks(uid, after=Instant(0), until=LATEST, limit=10_000)

    # -- all

    async def overview(self, rows: int = 100, *, counted: int = 100) -> OverviewDetails:
        return await self.storage.queries.overview(OverviewLimits(rows, rows, counted))

    async def depth(self, counted: int = 100) -> Depth:
        return (await self.overview(counted=counted)).depth

    # -- upkeep

    async def prune(self, retention: Retention, *, limit: int = 100) -> Pruned:
        epoch = await self.storage.upkeep.lead("janitor", LEASE, at=self.now)
        assert epoch is not None
        pruned = await self.storage.upkeep.prune(retention, epoch=epoch, limit=limit, at=self.now)
        assert pruned is not None
        return pruned

    async def prune_to_the_end(self, retention: Retention, *, limit: int) -> list[Pruned]:
        """Prune until nothing is left to remove. No test needs a hundred calls."""
        pieces = [await self.prune(retention, limit=limit)]
        while pieces[-1].is_more:
            assert len(pieces) < 100
            pieces.append(await self.prune(retention, limit=limit))
        return pieces

    async def items(self, kind: EventKind) -> list[list[Any]]:
        """Return the items of all events of a kind, in order."""
        events = await self.storage.queries.events(after=0, limit=10_000)
        return [item for event in events if event.kind is kind for item in event.items]


class Contract:
    """The base of all storage suites. Subclasses provide the fixtures `storage`, `clock` and `another`.

    `storage` is empty and uses `clock`; `another` opens a second storage object on the same database, with
    connections of its own, and closes it after the test.
    """

    is_pruned: ClassVar[bool] = False
    """Whether tests of the suite prune."""

    @pytest.fixture
    async def scene(self, storage: Storage, clock: VirtualClock) -> AsyncIterator[Scene]:
        """A scene that checks all invariants at the end of each test."""
        yield Scene(storage, clock)
        assert await check_invariants(storage, now=LATEST, is_pruned=self.is_pruned) == []
