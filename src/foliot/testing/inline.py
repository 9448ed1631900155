"""Runs the scheduler and worker of an application inside a test.

    app = Foliot()

    @app.job
    async def report() -> None: ...

    app.schedule("hourly", report, cron="0 * * * *")

    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(hours=3))
        assert len(await app.runs.page(status="success")) == 3

Time is virtual and passes only by `advance`. No thread is started: functions run in the thread of the test, whether
they are coroutines or not. The database is a temporary file. Inside the block the application is open on this database
and clock, so that `app.enqueue`, `app.runs` and all other methods use them.
"""

import asyncio
import functools
import inspect
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self, cast

from foliot.adapters.queue.storage import StorageQueue
from foliot.adapters.secrets import KeyStore
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.app import Foliot
from foliot.domain.access.actor import APP
from foliot.domain.ids import IdSource
from foliot.domain.instant import DAY, LATEST, Instant, Millis, from_timedelta, later
from foliot.engine.coordinator.role import CoordinatorRole
from foliot.engine.listener import EventListener
from foliot.engine.loop import IMMEDIATELY, Duty
from foliot.engine.node import build_worker
from foliot.engine.scheduler.gates import RECHECK
from foliot.engine.scheduler.role import SchedulerRole
from foliot.engine.settings import Parts, Settings
from foliot.errors import InvalidInput, shown
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock
from foliot.wiring.processes import TREES
from foliot.wiring.runners import build_runners
from foliot.wiring.services import build_services

_FOR_EVER: Final = Millis(100_000 * DAY)
"""The lease of the worker, so long that no test needs to renew it."""
_EXAMPLE: Final = "Write advance(timedelta(hours=3))."
_TURNS: Final = 1_000
_BATCH: Final = 1_000


class InlineEngine:
    """Runs the scheduler and worker of an application inside a test, in virtual time. Use it with `async with`."""

    def __init__(self, app: Foliot, clock: VirtualClock | None = None) -> None:
        self.app = app
        self.clock = clock or VirtualClock()
        self._directory = TemporaryDirectory(prefix="foliot-")

    async def __aenter__(self) -> Self:
        try:
            await self._begin()
        except BaseException:
            self._directory.cleanup()
            raise
        return self

    async def _begin(self) -> None:
        path = Path(self._directory.name) / "inline.db"
        opened = await SqliteStorage.open(path, clock=self.clock, inline=True, synchronous="NORMAL")
        self._storage = cast(Storage, opened)
        services = _services(self._storage, self.clock, path.with_name("inline.db-key"))
        await self.app.open(services, is_inline=True)
        await self.app.__aenter__()
        self._set_up(services)
        self._seen = await self._storage.listeners.newest()
        await self._work.heartbeat.round()
        await self._coordinator.worker.heartbeat.round()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end_attempts()
        await self.app.__aexit__(kind, error, trace)
        self._directory.cleanup()

    async def advance(self, span: timedelta) -> None:
        """Advance the clock by a timedelta, and do everything that becomes due, each at its time."""
        await self.advance_to(_moment_after(self.clock.now(), span))

    async def advance_to(self, moment: Instant) -> None:
        """Advance the clock to a time in epoch milliseconds, and do everything that becomes due, each at its time."""
        await self.run_until_idle()
        while (upcoming := await self._next_moment()) is not None and upcoming <= moment:
            self.clock.advance_to(upcoming)
            self._coordinator.settler.wake.set()
            await self.run_until_idle()
        self.clock.advance(max(0, moment - self.clock.now()))
        # A report that came too early for a save, and the timeout of a tree, wait for time to pass.
        self._work.progress.wake.set()
        self._coordinator.settler.wake.set()
        await self.run_until_idle()

    async def run_until_idle(self) -> None:
        """Do everything that is due now.

        Attempts that wait for something external or for time to pass keep running.
        """
        await self._release()
        if self._timekeeping.gates.is_waiting:
            await self._round(self._timekeeping.gates)
        if self.app.has_own_launcher:
            # Runs that the executor has can time out, or be cancelled.
            await self._round(self._timekeeping.reaper)
        while await self._keep_time() or await self._rounds() or await self._call_hooks():
            pass

    async def join(self) -> None:
        """Wait, in real time, for attempts that use processes, sockets or databases."""
        await self.run_until_idle()
        while self._work.consumer.running_count:
            await self._news()
            await self.run_until_idle()

    async def _news(self) -> None:
        """Wait until no attempt is running, or until there is output, whose writer may wait until it is saved."""
        waiting = {
            asyncio.ensure_future(self._work.consumer.wait_idle()),
            asyncio.ensure_future(self._work.logbook.wake.wait()),
        }
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for each in waiting:
            each.cancel()

    async def _end_attempts(self) -> None:
        """End all attempts. Meanwhile save their output, because they wait until it is saved."""
        draining = asyncio.ensure_future(self._work.drain(Millis(0)))
        while not draining.done():
            printed = asyncio.ensure_future(self._work.logbook.wake.wait())
            await asyncio.wait({draining, printed}, return_when=asyncio.FIRST_COMPLETED)
            printed.cancel()
            self._work.logbook.wake.clear()
            await self._round(self._work.logbook)
        await draining

    def _set_up(self, services: Services) -> None:
        functions = {name: _as_coroutine(function) for name, function in self.app.functions.items()}
        parts = Parts(
            storage=self._storage,
            queue=StorageQueue(self._storage),
            tree_queue=StorageQueue(self._storage, Topic.TREES),
            trees=TREES,
            clock=self.clock,
            ids=services.ids,
            runners=build_runners(functions, self.app.launcher, threads=1, echo=True),
            make_run=self.app.tick_launcher,
        )
        settings = Settings(label="inline", lease=_FOR_EVER)
        self._timekeeping = SchedulerRole(parts, settings)
        self._coordinator = CoordinatorRole(parts, settings)
        self._work = build_worker(parts, settings)
        self._work.logbook.hold = IMMEDIATELY  # time passes only when the test advances it
        self._next_due: Instant | None = None
        self._hooks: dict[str | None, EventListener] = {}

    async def _keep_time(self) -> bool:
        """Fire due schedules. Return False if none is due."""
        wake_at = await self._storage.ledger.next_wake()
        if wake_at is None or wake_at > self.clock.now():
            return False
        await self._timekeeping.scheduler.round()
        return True

    async def _release(self) -> None:
        """Queue due runs, and store when the next one is due."""
        self._storage.signal(Topic.LATER).clear()
        released = await self._storage.admission.release_due(_BATCH)
        while released.count == _BATCH:
            released = await self._storage.admission.release_due(_BATCH)
        self._next_due = released.next_due_at

    async def _rounds(self) -> bool:
        """Do one round of every duty of the worker that was woken. Return False if none was."""
        await self._let_attempts_go_on()
        if self._storage.signal(Topic.LATER).is_set():
            await self._release()
        duties = (*self._work.duties, *self._coordinator.duties, self._timekeeping.gates)
        with_news = [duty for duty in duties if duty.wake.is_set()]
        for duty in with_news:
            duty.wake.clear()
            await self._round(duty)
        return bool(with_news)

    async def _call_hooks(self) -> bool:
        """Call the hooks for all new events. Return False if there are none."""
        former, self._seen = self._seen, await self._storage.listeners.newest()
        if self._seen == former:
            return False
        for one in self.app.hooks.subscriptions(self._storage):
            # Hooks that were registered after the last events get only later ones.
            only_here = one._replace(name=None)
            listener = EventListener(self._storage, self.clock, only_here, holder="inline", position=former)
            await self._round(self._hooks.setdefault(one.name, listener))
        return True

    async def _round(self, duty: Duty) -> None:
        while await duty.round() == IMMEDIATELY:
            pass

    async def _let_attempts_go_on(self) -> None:
        """Yield to attempts until they have ended or printed something, for a limited number of turns."""
        for _ in range(_TURNS):
            opening = self._coordinator.worker.consumer.running_count
            if not (self._work.consumer.running_count or opening) or self._work.logbook.wake.is_set():
                return
            await asyncio.sleep(0)

    async def _next_moment(self) -> Instant | None:
        """Return when something happens next: a schedule fires, a run is due, or a waiter of the clock wakes."""
        now = self.clock.now()
        alarm = self.clock.next_alarm
        rung = None if alarm is None else later(now, alarm)
        gate = later(now, RECHECK) if self._timekeeping.gates.is_waiting else None
        moments = (await self._storage.ledger.next_wake(), self._next_due, rung, gate)
        known = [moment for moment in moments if moment is not None]
        return max(min(known), now) if known else None


def _services(storage: Storage, clock: VirtualClock, key: Path) -> Services:
    ids = IdSource(count(1).__next__)
    return build_services(storage, clock, ids, KeyStore({}, key)).acting_as(APP)


def _moment_after(now: Instant, span: timedelta) -> Instant:
    if not isinstance(span, timedelta):
        raise InvalidInput(f"time passes by a timedelta, not {type(span).__name__}", hint=_EXAMPLE, field="span")
    moment = later(now, from_timedelta(span))
    if not now <= moment <= LATEST:
        raise InvalidInput(f"time cannot pass by {shown(span)}", hint=_EXAMPLE, field="span")
    return moment


def _as_coroutine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a plain function, so that it is called in the thread of the test."""
    if inspect.iscoroutinefunction(function):
        return function

    @functools.wraps(function)
    async def call(*arguments: Any, **named: Any) -> Any:
        answer = function(*arguments, **named)
        return await answer if inspect.isawaitable(answer) else answer

    return call
