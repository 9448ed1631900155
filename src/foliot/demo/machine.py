"""One process with every role on a virtual clock, which jumps from one moment at which something happens to the next.

    advance_to(moment):   next tick | next due run | end of an attempt | timeout -> rounds of the duties, until all wait

The scheduler, the coordinator and the worker are those of the engine. Only time and the work of the jobs are simulated.
"""

import asyncio
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from foliot.adapters.queue.storage import StorageQueue
from foliot.demo.stage import Stage
from foliot.domain.ids import IdSource
from foliot.domain.instant import DAY, MINUTE, SECOND, Instant, Millis, later
from foliot.domain.schedule.tick_run import make_run
from foliot.engine.coordinator.role import CoordinatorRole
from foliot.engine.loop import IMMEDIATELY, Duty
from foliot.engine.node import build_worker
from foliot.engine.notifications.role import NotificationRole
from foliot.engine.scheduler.gates import RECHECK
from foliot.engine.scheduler.role import SchedulerRole
from foliot.engine.settings import Parts, Settings
from foliot.engine.worker.attempt import Ending
from foliot.engine.worker.role import WorkerRole
from foliot.ports.notifier import Notifications
from foliot.ports.resolver import Resolver
from foliot.ports.runner import Runner
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.ports.upkeep import Retention
from foliot.testing.clock import VirtualClock
from foliot.wiring.processes import TREES

SLOTS: Final = 12
_LEASE: Final = Millis(100_000 * DAY)
"""So long that no worker has to renew: a lease ends when its worker stops, or when the machine boots again."""
_SETTLE: Final = Millis(10 * MINUTE)
"""How often trees are looked at without news: they may have exceeded their timeout."""
_BATCH: Final = 1_000
_REAL_PAUSE: Final = 0.005
_TURNS: Final = 60
"""How many turns of the event loop let every task that was woken reach its next wait."""


class Machine:
    """Runs the engine on a storage and a virtual clock."""

    def __init__(
        self,
        storage: Storage,
        clock: VirtualClock,
        ids: IdSource,
        stage: Stage,
        runners: Mapping[str, Runner],
        resolvers: Mapping[str, Resolver],
        notifications: Notifications,
        retention: Retention,
        random: Random,
    ) -> None:
        self.clock = clock
        self._storage = storage
        self._stage = stage
        self._random = random
        self._settings = Settings(label="demo", slots=SLOTS, lease=_LEASE, retention=retention)
        self._parts = Parts(
            storage=storage,
            queue=StorageQueue(storage),
            tree_queue=StorageQueue(storage, Topic.TREES),
            trees=TREES,
            clock=clock,
            ids=ids,
            runners=runners,
            resolvers=resolvers,
            make_run=make_run,
        )
        self._notifications = notifications
        self._next_due: Instant | None = None
        self._next_wake: Instant | None = None
        self._settled_at = clock.now()

    @property
    def _workers(self) -> Sequence[WorkerRole]:
        return self._work, self._coordinator.worker

    async def start(self) -> None:
        """Start a process. Runs of a process that crashed are taken from it first."""
        self._timekeeping = SchedulerRole(self._parts, self._settings)
        self._coordinator = CoordinatorRole(self._parts, self._settings)
        self._work = build_worker(self._parts, self._settings)
        self._work.logbook.hold = IMMEDIATELY
        self._notifying = NotificationRole(
            self._storage,
            self.clock,
            self._notifications,
            holder=self._parts.ids.make(self.clock.now()),
            lease=_LEASE,
            poll=SECOND,
        )
        for worker in self._workers:
            await worker.heartbeat.round()
        await _rounds_of(self._timekeeping.reaper)
        await self._timekeeping.scheduler.round()
        self._storage.signal(Topic.SCHEDULES).set()
        await self._release()
        await self.run_until_idle()

    async def advance_to(self, moment: Instant) -> None:
        """Advance the clock to `moment`, and do everything that becomes due, each at its time."""
        await self.run_until_idle()
        while (upcoming := await self._next_moment()) is not None and upcoming <= moment:
            await self._pass_time(upcoming)
            await self.run_until_idle()
        if moment > self.clock.now():
            await self._pass_time(moment)
            await self.run_until_idle()

    async def run_until_idle(self) -> None:
        """Do everything that is due now. Attempts that wait for time to pass keep running."""
        if self._next_due is not None and self._next_due <= self.clock.now():
            await self._release()
        if self._timekeeping.gates.is_waiting:
            await _rounds_of(self._timekeeping.gates)
        while await self._keep_time() or await self._rounds():
            pass

    async def crash(self) -> None:
        """End as after a power failure: nothing is saved, no attempt has an outcome, and the machine boots again."""
        workers = [worker.heartbeat.worker.id for worker in self._workers if worker.heartbeat.worker is not None]
        for worker in self._workers:
            worker.consumer.end(list(worker.consumer.held), Ending.LEASE_LOST)
        await self._ease()
        self.clock.reboot()
        # What a reaper does when it finds out that the process of a worker has ended.
        await self._storage.upkeep.expire_workers(workers)

    async def notify(self) -> None:
        """Send the notifications of what has happened."""
        await _rounds_of(self._notifying.listener)
        due_at = await self._storage.deliveries.next_due()
        while due_at is not None and due_at <= self.clock.now():
            await self._notifying.sender.close()
            due_at = await self._storage.deliveries.next_due()

    async def stop(self) -> None:
        """Stop in order: give running runs back, save every outcome, retire the workers, and remove what is too old."""
        for worker in self._workers:
            worker.consumer.end(list(worker.consumer.held), Ending.SHUTDOWN)
            while worker.consumer.held:
                await self._ease()
                await _rounds_of(worker.logbook)
                await self._ease()
                await _rounds_of(worker.finisher)
            await worker.heartbeat.retire()
        await self.notify()
        await self._notifying.listener.close()
        await _rounds_of(self._timekeeping.janitor)
        await self._timekeeping.janitor.resign()

    # -- time

    async def _pass_time(self, moment: Instant) -> None:
        """Advance the clock, a little further than asked for: no machine does anything at the exact millisecond."""
        alarm = self.clock.next_alarm
        self.clock.advance(max(0, moment - self.clock.now()) + self._lag())
        if self.clock.now() >= self._settled_at + _SETTLE:
            self._settled_at = self.clock.now()
            self._coordinator.settler.wake.set()
        self._stage.wake()
        if alarm is not None and later(self.clock.now(), -alarm) >= 0:
            await self._ease()

    def _lag(self) -> int:
        """Return how late the machine is: some milliseconds, sometimes seconds."""
        if self._random.random() < 0.01:
            return self._random.randrange(800, 6_500)
        return self._random.randrange(3, 60)

    async def _next_moment(self) -> Instant | None:
        now = self.clock.now()
        alarm = self.clock.next_alarm
        rung = None if alarm is None else later(now, alarm)
        gate = later(now, 60 * RECHECK) if self._timekeeping.gates.is_waiting else None
        moments = (await self._read_next_wake(), self._next_due, self._stage.next_end, rung, gate)
        known = [moment for moment in moments if moment is not None]
        return max(min(known), now) if known else None

    # -- rounds

    async def _keep_time(self) -> bool:
        """Fire due schedules. Return False if none is due."""
        wake_at = await self._read_next_wake()
        if wake_at is None or wake_at > self.clock.now():
            return False
        await self._timekeeping.scheduler.round()
        self._storage.signal(Topic.SCHEDULES).set()
        return True

    async def _read_next_wake(self) -> Instant | None:
        """Return when a schedule is due next. It is read only after something has changed."""
        changed = self._storage.signal(Topic.SCHEDULES)
        if changed.is_set():
            changed.clear()
            self._next_wake = await self._storage.ledger.next_wake()
        return self._next_wake

    async def _release(self) -> None:
        """Queue due runs, and store when the next one is due."""
        self._storage.signal(Topic.LATER).clear()
        released = await self._storage.admission.release_due(_BATCH)
        while released.count == _BATCH:
            released = await self._storage.admission.release_due(_BATCH)
        self._next_due = released.next_due_at

    async def _rounds(self) -> bool:
        """Do one round of every duty that was woken. Return False if none was."""
        await self._let_attempts_go_on()
        if self._storage.signal(Topic.LATER).is_set():
            await self._release()
        duties = (*self._work.duties, *self._coordinator.duties, self._timekeeping.gates)
        woken = [duty for duty in duties if duty.wake.is_set()]
        for duty in woken:
            duty.wake.clear()
            await _rounds_of(duty)
        return bool(woken)

    async def _let_attempts_go_on(self) -> None:
        """Yield until every attempt waits for time to pass, or for its log to be saved."""
        await self._coordinator.worker.consumer.wait_idle()
        for turn in range(_TURNS):
            if self._work.logbook.wake.is_set() or self._work.consumer.running_count == self._stage.waiting:
                return
            # An attempt may ask a database on a server.
            await asyncio.sleep(0 if turn < _TURNS // 2 else _REAL_PAUSE)

    async def _ease(self) -> None:
        for _ in range(_TURNS):
            await asyncio.sleep(0)


async def _rounds_of(duty: Duty) -> None:
    while await duty.round() == IMMEDIATELY:
        pass
