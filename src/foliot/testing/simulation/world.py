"""A simulated cluster on one clock, in which a seed decides what happens next.

with faults       one random action after the other; the watch checks the storage after each
without faults    all duties run until every run has ended
"""

import hashlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Final

from foliot.adapters.queue.storage import StorageQueue
from foliot.domain.ids import IdSource, JobId
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Millis
from foliot.engine.loop import IMMEDIATELY, Duty
from foliot.ports.queue import Queue
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.invariants import Violation
from foliot.testing.simulation.catalogue import draw_catalogue
from foliot.testing.simulation.faults import Crash, ErrorRecorder, Hiccup
from foliot.testing.simulation.notes import UnreliableNotes
from foliot.testing.simulation.people import People
from foliot.testing.simulation.process import Cluster, OpenStorage, Process, ease, start_process
from foliot.testing.simulation.queue import LossyQueue
from foliot.testing.simulation.turnstile import VerbPause
from foliot.testing.simulation.watch import Watch

MAX_PROCESSES: Final = 4
_DUTY_WEIGHTS: Final = (5, 3, 3, 2, 1, 2, 4, 3, 5, 4, 1, 2, 4, 3, 4, 1, 1, 5)
"""The weights of the duties: scheduler, dispatcher, gates, reaper, janitor, then those of the worker, then those of the
coordinator."""
_LEDGERS_EVERY: Final = 20
_VERBS: Final = (
    "commit_firings",
    "claim",
    "finish",
    "exchange",
    "renew",
    "release_due",
    "append",
    "open",
    "settle_trees",
    "append_items",
)
_SLOW: Final = 0.3
"""The share of slow rounds, which stop before each of their verbs."""
_ROUND_INTERVAL: Final = Millis(30 * SECOND)
_MAX_ROUNDS_WITHOUT_END: Final = 1_000
"""Without faults, a run must end within this many rounds. They take eight hours: the clock may have been set back, and
the next retry may be hours away."""


class World:
    """Created by `create` and driven by `run`, which raises Violation if an invariant does not hold."""

    def __init__(self, seed: int, clock: VirtualClock, open_storage: OpenStorage, storage: Storage) -> None:
        self.seed = seed
        self.clock = clock
        self.latest = clock.now()
        self.storage = storage
        self._random = Random(seed)  # noqa: S311  (not a secret)
        self._catalogue = draw_catalogue(self._random)
        self.watch = Watch(storage, {**self._catalogue.jobs, **self._catalogue.parts})
        self.trace: list[str] = []
        self.has_stepped = False
        """Whether the wall clock was set. If it was, two of its readings cannot be compared."""
        self._open_storage = open_storage
        ids = self._id_source()
        self._people = People(storage, clock, self._random, ids, self._catalogue, self.watch, self._note)
        self._processes: list[Process] = []
        self._crashed: list[Process] = []
        self._started = 0
        self._errors = ErrorRecorder()
        self._pause = VerbPause()
        self._broker = LossyQueue(self._random) if self._random.random() < 0.5 else None

    @classmethod
    async def create(cls, seed: int, clock: VirtualClock, open_storage: OpenStorage) -> "World":
        storage = await open_storage(clock, lambda point: None)
        world = cls(seed, clock, open_storage, storage)
        await storage.definitions.put_workflows(world._catalogue.workflows)
        await storage.definitions.put_jobs(list(world._catalogue.jobs.items()))
        await storage.definitions.watch_jobs({JobId("plain"): DAY})
        for _ in range(3):
            await world._people.put_schedule()
        for _ in range(2):
            await world._start()
        return world

    @property
    def digest(self) -> str:
        """A hash of the trace."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    async def run(self, steps: int) -> None:
        """Do `steps` actions with faults, then run without faults until every run has ended."""
        self._errors.start()
        try:
            for number in range(steps):
                await self._step()
                if number % _LEDGERS_EVERY == 0:
                    await self._check_ledgers()
            await self._recover()
        finally:
            self._errors.stop()

    async def close(self) -> None:
        for process in self._processes:
            await process.crash()
        await self.storage.close()

    # -- with faults

    async def _step(self) -> None:
        actions, weights = zip(*self._actions(), strict=True)
        action = self._random.choices(actions, weights)[0]
        with self._traced(action.__name__):
            await action()
            await self._check()

    def _actions(self) -> Iterator[tuple[Callable[[], Awaitable[None]], int]]:
        yield self._some_round, 560
        yield self._let_time_pass, 200
        yield self._sleep_long, 4
        yield self._people.enqueue, 50
        yield self._people.start_workflow, 20
        yield self._people.start_fanout, 12
        yield self._people.start_chain, 12
        yield self._people.cancel, 25
        yield self._people.put_schedule, 12
        yield self._people.edit_schedule, 20
        yield self._people.pause_or_resume, 16
        yield self._people.pause_or_resume_all, 8
        yield self._people.delete_schedule, 4
        yield self._people.edit_workflow, 6
        yield self._people.pause_or_resume_step, 4
        yield self._crash, 8
        yield self._stop, 6
        yield self._arm, 25
        yield self._stall, 10
        yield self._start, 15
        yield self._step_clock, 4
        yield self._disturb_broker, 15

    async def _some_round(self) -> None:
        awake = [process for process in self._processes if process.stalled_until <= self.clock.elapsed()]
        if awake:
            process = self._random.choice(awake)
            duty = self._random.choices(process.duties, _DUTY_WEIGHTS)[0]
            await self._round(process, duty, slowly=self._random.random() < _SLOW)

    async def _round(self, process: Process, duty: Duty, *, slowly: bool = False) -> Millis | None:
        """Do one round, and handle injected errors as the driver of a real process would."""
        self._note(f"{process.name} {duty.name}")
        try:
            return await process.advance_round(duty, slowly=slowly)
        except Crash:
            process.is_doomed = True
        except Hiccup:
            self._note(f"hiccup at {process.faults.last_point}")
        return None

    async def _let_time_pass(self) -> None:
        self.clock.advance(self._random.choice((10, 500, 3 * SECOND, 10 * SECOND, 20 * SECOND)))

    async def _sleep_long(self) -> None:
        """Advance the clock by minutes without a round, like a laptop that was closed."""
        self.clock.advance(self._random.randrange(2, 40) * MINUTE)

    async def _crash(self) -> None:
        if self._processes:
            self._random.choice(self._processes).is_doomed = True

    async def _stop(self) -> None:
        if self._processes:
            process = self._random.choice(self._processes)
            self._note(process.name)
            await self._finish_rounds(process)
            if process in self._processes:
                self._processes.remove(process)
                await process.stop()

    async def _arm(self) -> None:
        if self._processes:
            error = self._random.choice((Crash(), Hiccup("the disk is away")))
            point = f"{self._random.choice(_VERBS)}.{self._random.choice(('before', 'after'))}_commit"
            self._random.choice(self._processes).faults.arm(error, point=point)

    async def _stall(self) -> None:
        if self._processes:
            process = self._random.choice(self._processes)
            process.stalled_until = self.clock.elapsed() + self._random.randrange(5, 180) * SECOND
            self._note(process.name)

    async def _start(self) -> None:
        if len(self._processes) < MAX_PROCESSES:
            self._started += 1
            name = f"p{self._started}"
            queue_of: Callable[[Storage], Queue] = StorageQueue
            if self._broker is not None:
                broker = self._broker
                queue_of = lambda storage: broker  # noqa: E731
            cluster = Cluster(self._open_storage, queue_of, self._pause, self.clock, self.seed)
            ids = self._id_source()
            process = await start_process(name, cluster, ids=ids, notes=UnreliableNotes(self._random))
            self._processes.append(process)
            self._note(name)

    async def _step_clock(self) -> None:
        self.has_stepped = True
        self.clock.step(self._random.choice((-HOUR, -5 * MINUTE, -SECOND, SECOND, 5 * MINUTE, HOUR)))

    async def _disturb_broker(self) -> None:
        if self._broker is not None:
            count = self._broker.empty() if self._random.random() < 0.2 else self._broker.deliver_late()
            self._note(f"{count} messages")

    # -- without faults

    async def _recover(self) -> None:
        """End all faults, let the schedules fire for a while, delete them, and wait until every run has ended."""
        await self._heal()
        await self._run_all_duties(rounds=8)
        names = [schedule.id for schedule in await self.storage.definitions.page_schedules()]
        await self.storage.definitions.resume_project()
        await self.storage.definitions.pause_schedules(names, paused=False)
        await self._run_all_duties(rounds=8)
        await self._check_ledgers()
        await self.storage.definitions.delete_schedules(names)
        rounds_without_end = 0
        while before := set(self.watch.unfinished):
            if rounds_without_end > _MAX_ROUNDS_WITHOUT_END:
                stuck = (await self.storage.queries.get_runs(before)).values()
                raise Violation(f"S6 runs that never end: {[(run.id, run.job_id, run.status) for run in stuck]}")
            await self._run_all_duties(rounds=1)
            rounds_without_end = rounds_without_end + 1 if before <= set(self.watch.unfinished) else 0

    async def _heal(self) -> None:
        while len(self._processes) > 2:
            await self._stop()
        for process in list(self._processes):
            await self._finish_rounds(process)
            process.stalled_until = 0
        if self._broker is not None:
            self._broker.is_reliable = True

    async def _finish_rounds(self, process: Process) -> None:
        for duty in process.end_faults():
            if process in self._processes:
                await self._round(process, duty)
                await self._check()

    async def _run_all_duties(self, *, rounds: int) -> None:
        for _ in range(rounds):
            if len(self._processes) < 2:
                await self._start()
            with self._traced("all duties"):
                for process in list(self._processes):
                    await self._run_duties(process)
                self.clock.advance(_ROUND_INTERVAL)
                await self._check()

    async def _run_duties(self, process: Process) -> None:
        """Do one round of every duty, and more while a duty returns IMMEDIATELY."""
        for duty in process.duties:
            delay: Millis | None = IMMEDIATELY
            while delay == IMMEDIATELY and process in self._processes:
                delay = await self._round(process, duty)
                await self._check()

    # -- after each step

    async def _check(self) -> None:
        await ease()
        for process in [process for process in self._processes if process.is_doomed]:
            self._processes.remove(process)
            self._note(f"{process.name} crashed at {process.faults.last_point}")
            await process.crash()
            # Its attempts never end. Without a reference their tasks would be collected, with a warning.
            self._crashed.append(process)
        self.latest = max(self.latest, self.clock.now())
        if self._errors.error is not None:
            raise Violation("an error that was not injected was logged") from self._errors.error
        async with self._pause:
            events = await self.watch.check()
        for event in events:
            self._note(f"{event.seq} {event.at} {event.kind} {event.items}")

    async def _check_ledgers(self) -> None:
        async with self._pause:
            await self.watch.check_ledgers()

    @contextmanager
    def _traced(self, what: str) -> Iterator[None]:
        self._note(f"-- {what} at {self.clock.now()}")
        try:
            yield
        except Exception as error:
            error.add_note(f"seed {self.seed}, line {len(self.trace)} of the trace, which ends with:")
            error.add_note("\n".join(self.trace[-40:]))
            raise

    def _note(self, line: str) -> None:
        self.trace.append(line)

    def _id_source(self) -> IdSource:
        return IdSource(lambda: self._random.getrandbits(80))
