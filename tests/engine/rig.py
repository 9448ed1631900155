"""One process's duties on a virtual clock and a SQLite file without threads, cranked by hand."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

from foliot.adapters.queue.storage import StorageQueue
from foliot.domain.ids import IdSource, JobId, RunId, ScheduleUid
from foliot.domain.instant import DAY, LATEST, SECOND, Instant, Millis
from foliot.domain.job.job import Job, JobSpec, Options
from foliot.domain.run.outcome import Failure, Success
from foliot.domain.run.run import NewRun, Run, Status
from foliot.domain.schedule.firing import MakeRun, SchedulerSettings
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec
from foliot.domain.schedule.tick import TickRecord
from foliot.domain.schedule.tick_run import make_run
from foliot.domain.tree.kind import TreeKind
from foliot.engine.coordinator.role import CoordinatorRole
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.node import build_worker
from foliot.engine.scheduler.role import SchedulerRole
from foliot.engine.settings import Parts, Settings
from foliot.ports.channel import RunChannel
from foliot.ports.pages import RunFilter
from foliot.ports.processes import Processes
from foliot.ports.queue import Queue
from foliot.ports.runner import Attempt, Runner, Sweep
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.testing.builders import NIGHTLY, REPORT, a_schedule
from foliot.testing.clock import VirtualClock
from foliot.wiring.processes import TREES
from tests.engine.ease import ease

LEASE = Millis(60 * SECOND)
_AGES = Millis(1_000 * DAY)
_entropy = count(1)


class Stage:
    """A runner whose attempts end with `answer`: immediately, or when the test ends them."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.answer: Success | Failure | Exception | None = Success()
        self.abandoned = 0
        self.cancelled: list[RunId] = []
        self._ends: dict[RunId, asyncio.Future[Success | Failure]] = {}

    @property
    def under_way(self) -> list[RunId]:
        return list(self._ends)

    def end(self, run_id: RunId, outcome: Success | Failure | None = None) -> None:
        self._ends.pop(run_id).set_result(outcome or Success())

    async def run(self, attempt: Attempt) -> Success | Failure:
        self.attempts.append(attempt)
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is not None:
            return self.answer
        self._ends[attempt.run_id] = asyncio.get_running_loop().create_future()
        try:
            return await self._ends[attempt.run_id]
        except asyncio.CancelledError:
            del self._ends[attempt.run_id]
            self.cancelled.append(attempt.run_id)
            raise


class Rig:
    """All duties of one process, run round by round. The lease of the worker is long unless a test sets it."""

    def __init__(
        self,
        storage: Storage,
        clock: VirtualClock,
        *,
        queue: Queue | None = None,
        runners: dict[str, Runner] | None = None,
        make_run: MakeRun = make_run,
        scheduler: SchedulerSettings | None = None,
        slots: int = 10,
        lease: Millis = _AGES,
        sweep: Sweep | None = None,
        trees: dict[str, TreeKind] | None = None,
        processes: Processes | None = None,
        channel: RunChannel | None = None,
    ) -> None:
        self.storage = storage
        self.clock = clock
        self.stage = Stage()
        self.queue = queue or StorageQueue(storage)
        self.ids = IdSource(_entropy.__next__)
        self.parts = Parts(
            storage=storage,
            queue=self.queue,
            tree_queue=StorageQueue(storage, Topic.TREES),
            trees={**TREES, **(trees or {})},
            clock=clock,
            ids=self.ids,
            runners={"stage": self.stage, **(runners or {})},
            make_run=make_run,
            sweep=sweep,
            processes=processes,
            channel=channel,
        )
        self.settings = Settings(label="rig", slots=slots, lease=lease, scheduler=scheduler or SchedulerSettings())
        self.timekeeping = SchedulerRole(self.parts, self.settings)
        self.worker = build_worker(self.parts, self.settings)
        self.coordinator = CoordinatorRole(self.parts, self.settings)
        self.scheduler = self.timekeeping.scheduler
        self.dispatcher = self.timekeeping.dispatcher
        self.reaper = self.timekeeping.reaper
        self.heartbeat = self.worker.heartbeat
        self.consumer = self.worker.consumer
        self.finisher = self.worker.finisher
        self.logbook = self.worker.logbook

    # -- giving

    async def job(self, job_id: str = REPORT, *, spec: dict[str, Any] | None = None, **options: Any) -> Job:
        definition = JobSpec(kind="stage", spec=spec or {}, options=Options(**options))
        [job] = await self.storage.definitions.put_jobs([(JobId(job_id), definition)])
        return job

    async def schedule(self, spec: ScheduleSpec, schedule_id: str = NIGHTLY) -> Schedule:
        if spec.job_id is not None and not await self.storage.definitions.get_jobs([spec.job_id]):
            await self.job(spec.job_id)
        [schedule] = await self.storage.definitions.put_schedules([a_schedule(spec, schedule_id=schedule_id)])
        return schedule

    async def enqueue(self, job_id: str = REPORT, *, delay: int = 0, **fields: Any) -> RunId:
        found = await self.storage.definitions.get_jobs([JobId(job_id)])
        job = found.get(JobId(job_id)) or await self.job(job_id)
        now = self.clock.now()
        known = {"id": RunId(self.ids.make(now)), "job_id": job.id, "due_at": now + delay, "options": job.spec.options}
        [created] = await self.storage.orders.create([NewRun(**{**known, **fields})])
        return created.run_id

    # -- cranking

    async def fire(self, after: Millis | int = 0) -> Millis | None:
        """Advance the clock, then do one round of the scheduler."""
        self.clock.advance(after)
        return await self.scheduler.round()

    async def claim(self) -> None:
        """Open trees, then do one round of the consumer of a registered worker."""
        await self.open_trees()
        await self.heartbeat.round()
        await self.consumer.round()
        await ease()

    async def open_trees(self) -> None:
        """One round of the coordinator's consumer."""
        opening = self.coordinator.worker
        await opening.heartbeat.round()
        await opening.consumer.round()
        await ease()
        await opening.finisher.round()

    async def save(self) -> None:
        """Save logs and outcomes of attempts."""
        await self.logbook.round()
        await ease()
        await self.finisher.round()

    async def work(self) -> None:
        await self.claim()
        await self.save()

    async def settle(self) -> None:
        """Settle trees until another attempt is needed."""
        settler = self.coordinator.settler
        settler.wake.set()
        while settler.wake.is_set():
            settler.wake.clear()
            if await settler.round() == IMMEDIATELY:
                settler.wake.set()

    async def work_off(self, turns: int = 50) -> None:
        """Do everything that needs no advance of the clock."""
        for _ in range(turns):
            await self.dispatcher.round()
            await self.work()

    # -- looking up

    async def run(self, run_id: RunId) -> Run:
        return (await self.storage.queries.get_runs([run_id]))[run_id]

    async def status(self, run_id: RunId) -> Status:
        return (await self.run(run_id)).status

    async def runs(self, only: Callable[[Run], bool] = lambda run: True) -> list[Run]:
        """Return all runs, oldest first."""
        return [run for run in reversed(await self.storage.queries.page_runs(RunFilter(limit=10_000))) if only(run)]

    async def planned_times(self) -> list[Instant]:
        """Return the planned times of all runs of schedules, in order of creation."""
        return [run.tick.scheduled_for for run in await self.runs() if run.tick is not None]

    async def stored(self) -> Schedule:
        return (await self.storage.definitions.get_schedules([NIGHTLY]))[NIGHTLY]

    async def ticks(self, uid: ScheduleUid) -> list[TickRecord]:
        return await self.storage.queries.ticks(uid, after=Instant(0), until=LATEST, limit=10_000)

    async def outcomes(self, uid: ScheduleUid) -> list[tuple[str, str, int]]:
        """Return outcome, reason and count of each ledger row."""
        return [(tick.outcome.value, tick.reason.value, tick.count) for tick in await self.ticks(uid)]
