"""A cluster on one clock, where one seed decides what happens next.

faults on    one action after the other, drawn by weight; after each the watch looks
faults off   everybody does their rounds until every run is over
"""

import hashlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Final

from foliot.adapters.queue.storage import StorageQueue
from foliot.domain.ids import IdSource, JobId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Millis
from foliot.engine.loop import IMMEDIATELY, Duty
from foliot.ports.queue import Queue
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.simulation.broken import Broken
from foliot.testing.simulation.catalogue import draw_catalogue
from foliot.testing.simulation.ears import Ears
from foliot.testing.simulation.faults import Crash, Hiccup
from foliot.testing.simulation.notes import TroubledNotes
from foliot.testing.simulation.people import People
from foliot.testing.simulation.process import Cluster, OpenStorage, Process, ease, start_process
from foliot.testing.simulation.queue import LossyQueue
from foliot.testing.simulation.turnstile import Hush
from foliot.testing.simulation.watch import Watch

MAX_PROCESSES: Final = 4
_HASTE: Final = (5, 3, 3, 2, 1, 2, 4, 3, 5, 4, 2, 4, 3, 4, 1, 5)
"""How often each duty has its turn: scheduler, dispatcher, gates, reaper, janitor, then the worker's, then the
coordinator's."""
_AUDIT_EVERY: Final = 20
_VERBS: Final = ("settle", "claim", "finish", "exchange", "renew", "release_due", "append", "open", "settle_trees")
_SLOW: Final = 0.3
"""How many of the rounds are slow: stopped before each of their verbs."""
_PACE: Final = Millis(30 * SECOND)
_LONGEST_PAUSE: Final = 1_000
"""Rounds of everybody, `_PACE` apart, in which some run of a healed cluster must end: eight hours, for the clock may
have been set back and the next retry be hours away."""


class World:
    """Made by `create`; driven by `run`, which raises Broken when an invariant does not hold."""

    def __init__(self, seed: int, clock: VirtualClock, open_storage: OpenStorage, storage: Storage) -> None:
        self.seed = seed
        self.clock = clock
        self.latest = clock.now()
        self.storage = storage
        self._chance = Random(seed)  # noqa: S311  (a story, no secret)
        self._catalogue = draw_catalogue(self._chance)
        self.watch = Watch(storage, self._catalogue.jobs)
        self.trace: list[str] = []
        self.has_stepped = False
        """Whether the wall clock was set: what compares two of its readings proves nothing then."""
        self._open_storage = open_storage
        ids = self._id_source()
        self._people = People(storage, clock, self._chance, ids, self._catalogue, self.watch, self._note)
        self._processes: list[Process] = []
        self._dead: list[Process] = []
        self._started = 0
        self._ears = Ears()
        self._hush = Hush()
        self._broker = LossyQueue(self._chance) if self._chance.random() < 0.5 else None

    @classmethod
    async def create(cls, seed: int, clock: VirtualClock, open_storage: OpenStorage) -> "World":
        storage = await open_storage(clock, lambda point: None)
        world = cls(seed, clock, open_storage, storage)
        await storage.definitions.put_workflows(world._catalogue.workflows)
        await storage.definitions.put_jobs(list(world._catalogue.jobs.items()))
        await storage.definitions.watch_jobs([JobId("plain")])
        for _ in range(3):
            await world._people.put_schedule()
        for _ in range(2):
            await world._start()
        return world

    @property
    def digest(self) -> str:
        """The whole story in one word."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    async def run(self, steps: int) -> None:
        """Trouble for so many steps, then peace until everything is done."""
        self._ears.open()
        try:
            for number in range(steps):
                await self._step()
                if number % _AUDIT_EVERY == 0:
                    await self._audit()
            await self._recover()
        finally:
            self._ears.shut()

    async def close(self) -> None:
        for process in self._processes:
            await process.crash()
        await self.storage.close()

    # -- trouble

    async def _step(self) -> None:
        actions, weights = zip(*self._actions(), strict=True)
        action = self._chance.choices(actions, weights)[0]
        with self._noted(action.__name__):
            await action()
            await self._look()

    def _actions(self) -> Iterator[tuple[Callable[[], Awaitable[None]], int]]:
        yield self._some_round, 560
        yield self._let_time_pass, 200
        yield self._sleep_long, 4
        yield self._people.enqueue, 50
        yield self._people.start_workflow, 20
        yield self._people.cancel, 25
        yield self._people.put_schedule, 12
        yield self._people.edit_schedule, 20
        yield self._people.pause_or_resume, 16
        yield self._people.delete_schedule, 4
        yield self._people.edit_workflow, 6
        yield self._people.pause_or_resume_step, 4
        yield self._crash, 8
        yield self._stop, 6
        yield self._arm, 25
        yield self._stall, 10
        yield self._start, 15
        yield self._step_clock, 4
        yield self._trouble_broker, 15

    async def _some_round(self) -> None:
        awake = [process for process in self._processes if process.stalled_until <= self.clock.elapsed()]
        if awake:
            process = self._chance.choice(awake)
            duty = self._chance.choices(process.duties, _HASTE)[0]
            await self._round(process, duty, slowly=self._chance.random() < _SLOW)

    async def _round(self, process: Process, duty: Duty, *, slowly: bool = False) -> Millis | None:
        """One round, met by trouble as the driver of a real process would meet it."""
        self._note(f"{process.name} {duty.name}")
        try:
            return await process.go_on(duty, slowly=slowly)
        except Crash:
            process.is_doomed = True
        except Hiccup:
            self._note(f"hiccup at {process.faults.struck}")
        return None

    async def _let_time_pass(self) -> None:
        self.clock.advance(self._chance.choice((10, 500, 3 * SECOND, 10 * SECOND, 20 * SECOND)))

    async def _sleep_long(self) -> None:
        """Nobody does anything for a while: a laptop that was closed."""
        self.clock.advance(self._chance.randrange(2, 40) * MINUTE)

    async def _crash(self) -> None:
        if self._processes:
            self._chance.choice(self._processes).is_doomed = True

    async def _stop(self) -> None:
        if self._processes:
            process = self._chance.choice(self._processes)
            self._note(process.name)
            await self._hurry(process)
            if process in self._processes:
                self._processes.remove(process)
                await process.stop()

    async def _arm(self) -> None:
        if self._processes:
            trouble = self._chance.choice((Crash(), Hiccup("the disk is away")))
            point = f"{self._chance.choice(_VERBS)}.{self._chance.choice(('before', 'after'))}_commit"
            self._chance.choice(self._processes).faults.arm(trouble, point=point)

    async def _stall(self) -> None:
        if self._processes:
            process = self._chance.choice(self._processes)
            process.stalled_until = self.clock.elapsed() + self._chance.randrange(5, 180) * SECOND
            self._note(process.name)

    async def _start(self) -> None:
        if len(self._processes) < MAX_PROCESSES:
            self._started += 1
            name = f"p{self._started}"
            queue_of: Callable[[Storage], Queue] = StorageQueue
            if self._broker is not None:
                broker = self._broker
                queue_of = lambda storage: broker  # noqa: E731
            cluster = Cluster(self._open_storage, queue_of, self._hush, self.clock, self.seed)
            ids = self._id_source()
            process = await start_process(name, cluster, ids=ids, notes=TroubledNotes(self._chance))
            self._processes.append(process)
            self._note(name)

    async def _step_clock(self) -> None:
        self.has_stepped = True
        self.clock.step(self._chance.choice((-HOUR, -5 * MINUTE, -SECOND, SECOND, 5 * MINUTE, HOUR)))

    async def _trouble_broker(self) -> None:
        if self._broker is not None:
            count = self._broker.empty() if self._chance.random() < 0.2 else self._broker.deliver_late()
            self._note(f"{count} messages")

    # -- peace

    async def _recover(self) -> None:
        """Heal everything, let the schedules go on for a while, then end them and let every run end."""
        await self._heal()
        await self._let_everybody_work(rounds=8)
        names = [schedule.id for schedule in await self.storage.definitions.page_schedules()]
        await self.storage.definitions.pause_schedules(names, paused=False)
        await self._let_everybody_work(rounds=8)
        await self._audit()
        await self.storage.definitions.delete_schedules(names)
        rounds_in_vain = 0
        while before := set(self.watch.unfinished):
            if rounds_in_vain > _LONGEST_PAUSE:
                stuck = (await self.storage.queries.get_runs(before)).values()
                raise Broken(f"S6 runs that never end: {[(run.id, run.job_id, run.status) for run in stuck]}")
            await self._let_everybody_work(rounds=1)
            rounds_in_vain = rounds_in_vain + 1 if before <= set(self.watch.unfinished) else 0

    async def _heal(self) -> None:
        while len(self._processes) > 2:
            await self._stop()
        for process in list(self._processes):
            await self._hurry(process)
            process.stalled_until = 0
        if self._broker is not None:
            self._broker.is_reliable = True

    async def _hurry(self, process: Process) -> None:
        for duty in process.hurry():
            if process in self._processes:
                await self._round(process, duty)
                await self._look()

    async def _let_everybody_work(self, *, rounds: int) -> None:
        for _ in range(rounds):
            if len(self._processes) < 2:
                await self._start()
            with self._noted("everybody"):
                for process in list(self._processes):
                    await self._work_once(process)
                self.clock.advance(_PACE)
                await self._look()

    async def _work_once(self, process: Process) -> None:
        """One turn of every duty, more where it asks for more."""
        for duty in process.duties:
            rest: Millis | None = IMMEDIATELY
            while rest == IMMEDIATELY and process in self._processes:
                rest = await self._round(process, duty)
                await self._look()

    # -- after each step

    async def _look(self) -> None:
        await ease()
        for process in [process for process in self._processes if process.is_doomed]:
            self._processes.remove(process)
            self._note(f"{process.name} crashed at {process.faults.struck}")
            await process.crash()
            # Its attempts hang in memory that nobody serves any more; without a reference they would complain of it.
            self._dead.append(process)
        self.latest = max(self.latest, self.clock.now())
        if self._ears.heard is not None:
            raise Broken("an error that nobody caused on purpose was logged") from self._ears.heard
        async with self._hush:
            events = await self.watch.look()
        for event in events:
            self._note(f"{event.seq} {event.at} {event.kind} {event.items}")

    async def _audit(self) -> None:
        async with self._hush:
            await self.watch.audit()

    @contextmanager
    def _noted(self, what: str) -> Iterator[None]:
        self._note(f"-- {what} at {self.clock.now()}")
        try:
            yield
        except Exception as error:
            error.add_note(f"seed {self.seed}, line {len(self.trace)} of the trace, which ends so:")
            error.add_note("\n".join(self.trace[-40:]))
            raise

    def _note(self, line: str) -> None:
        self.trace.append(line)

    def _id_source(self) -> IdSource:
        return IdSource(lambda: self._chance.getrandbits(80))
