"""Reads events once for all followers of a process, when the storage signals new ones.

A follower is a client that streams events. Unlike the listeners of hooks (`ports.listeners`) it has no stored position.
The reader keeps the newest events in memory. A follower that is behind them, because it is slow or resumes, reads from
the storage until it has caught up, so that a slow one costs no memory. A watch waits for changes of some runs: it is
woken and reads nothing. Without followers and watches nothing is read.
"""

import asyncio
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

import msgspec

from foliot.domain.events import Event, EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import SECOND, Millis, to_datetime
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic

FALLBACK: Final = Millis(SECOND)
"""How long a reader waits for a signal. Signals of other processes may be lost."""
HEARTBEAT: Final = Millis(15_000)
"""A follower gets an empty batch after this time without events."""
OF_RUNS: Final = frozenset(
    {
        EventKind.RUNS_CREATED,
        EventKind.RUNS_STARTED,
        EventKind.RUNS_ENDED,
        EventKind.RUNS_CANCEL_REQUESTED,
        EventKind.EXECUTIONS_OPENED,
        EventKind.EXECUTIONS_ENDED,
        EventKind.STEPS_CHANGED,
    }
)
"""The kinds whose items begin with the id of a run."""
_PAGE: Final = 200
_PAGE_BYTES: Final = 4 << 20
_BEHIND: Final = 50
_BEHIND_BYTES: Final = 64 << 10
"""How many events a follower that is behind reads at once, and about how many bytes of them: one that never reads on
keeps them in memory."""
_KEPT: Final = 2_000


class EventView(msgspec.Struct, frozen=True, kw_only=True):
    """A batch of changes of one kind, see `EventKind` for the form of its items."""

    id: int
    at: datetime
    kind: EventKind
    items: list[Any]


class EncodedEvent(msgspec.Struct, frozen=True):
    """An event, encoded once for all followers."""

    id: int
    view: EventView
    data: bytes


class EventReader:
    """One for each open storage."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        self._kept: deque[EncodedEvent] = deque(maxlen=_KEPT)
        self._position = 0
        """All events up to it were read, and the newest of them are kept for followers."""
        self._news = asyncio.Event()
        self.followers = 0
        self._watches: dict[RunId, set[asyncio.Event]] = {}
        self._users = 0
        """Followers and watches."""
        self._task: asyncio.Task[None] | None = None
        self._error: Exception | None = None

    async def join(self) -> None:
        """Begin to follow: events from now on are kept."""
        await self._enter()
        self.followers += 1

    def leave(self) -> None:
        self.followers -= 1
        if not self.followers:
            self._kept.clear()
        self._exit()

    async def after(self, position: int) -> Sequence[EncodedEvent]:
        """Return the next events for a follower, or none after `HEARTBEAT` without events."""
        news = self._news
        if self._error is not None:
            raise self._error
        if position < self._position:
            if self._kept and self._kept[0].id <= position + 1:
                return [*self._kept][bisect_right(self._kept, position, key=lambda event: event.id) :]
            events = self._storage.queries.events
            if found := await events(after=position, limit=_BEHIND, size=_BEHIND_BYTES):
                return [_encoded(event) for event in found]
        await self._clock.wait(news, HEARTBEAT)
        return ()

    @asynccontextmanager
    async def watching(self, run_ids: Iterable[RunId], *topics: Topic) -> AsyncIterator["RunWatch"]:
        """Watch runs: from now on, each event about one of them wakes the watch, and each signal of the topics."""
        with self._storage.subscribe(*topics) as wake:
            watch = RunWatch(wake, self._remember, self._wait)
            try:
                for run_id in run_ids:
                    watch.add(run_id)
                await self._enter()
                try:
                    yield watch
                finally:
                    self._exit()
            finally:
                self._forget(watch)

    async def _enter(self) -> None:
        begin = await self._storage.listeners.newest()
        self._users += 1
        if self._task is None:
            self._position = begin
        self._ensure_reading()

    def _exit(self) -> None:
        self._users -= 1
        if not self._users and self._task is not None:
            self._task.cancel()
            self._task = None

    def _ensure_reading(self) -> None:
        """Start the reader, or start it again after an error, where it was."""
        if self._task is None or self._task.done():
            self._error = None
            self._task = asyncio.create_task(self._read(), name="event reader")

    async def _read(self) -> None:
        try:
            with self._storage.subscribe(Topic.EVENTS) as wake:
                while True:
                    wake.clear()
                    events = await self._storage.queries.events(after=self._position, limit=_PAGE, size=_PAGE_BYTES)
                    if events:
                        self._publish(events)
                    else:
                        await self._clock.wait(wake, FALLBACK)
        except Exception as error:
            # Every follower raises it; a client connects again and resumes. A watch starts the reader again.
            self._error = error
            self._wake_followers()

    def _publish(self, events: Sequence[Event]) -> None:
        if self.followers:
            self._kept.extend(_encoded(event) for event in events)
        self._position = events[-1].seq
        self._wake_followers()
        if self._watches:
            for run_id in {item[0] for event in events if event.kind in OF_RUNS for item in event.items}:
                for wake in self._watches.get(run_id, ()):
                    wake.set()

    def _wake_followers(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    # -- called by watches

    def _remember(self, run_id: RunId, wake: asyncio.Event) -> None:
        self._watches.setdefault(run_id, set()).add(wake)

    def _forget(self, watch: "RunWatch") -> None:
        for run_id in watch.run_ids:
            wakes = self._watches[run_id]
            wakes.discard(watch.wake)
            if not wakes:
                del self._watches[run_id]

    async def _wait(self, wake: asyncio.Event, longest: Millis) -> None:
        self._ensure_reading()
        await self._clock.wait(wake, longest)


class RunWatch:
    """Waits for changes of runs. Clear it, read the runs, then wait: no change is missed."""

    def __init__(
        self,
        wake: asyncio.Event,
        remember: Callable[[RunId, asyncio.Event], None],
        wait: Callable[[asyncio.Event, Millis], Awaitable[None]],
    ) -> None:
        self.wake = wake
        self._remember = remember
        self._wait = wait
        self.run_ids: set[RunId] = set()

    def add(self, run_id: RunId) -> None:
        """Watch another run."""
        if run_id not in self.run_ids:
            self.run_ids.add(run_id)
            self._remember(run_id, self.wake)

    def clear(self) -> None:
        self.wake.clear()

    async def wait(self, longest: Millis = FALLBACK) -> None:
        """Return after a change since the last `clear`, or after a while."""
        await self._wait(self.wake, min(longest, FALLBACK))


def view_event(event: Event) -> EventView:
    return EventView(id=event.seq, at=to_datetime(event.at), kind=event.kind, items=event.items)


def _encoded(event: Event) -> EncodedEvent:
    view = view_event(event)
    return EncodedEvent(view.id, view, msgspec.json.encode(view))
