"""Events as they happen: one reader for all listeners of a process.

The reader keeps the newest events in memory. A listener that is behind them, because it is slow or resumes, reads from
the storage until it has caught up, so that a slow one costs no memory.
"""

import asyncio
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from foliot.domain.events import Event, EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Millis, to_datetime
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage

_PAGE: Final = 200
_KEPT: Final = 2_000
_PAUSE: Final = Millis(200)
HEARTBEAT: Final = Millis(15_000)
"""A listener gets an empty batch after this time without events."""
_OF_RUNS: Final = frozenset(
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


class EventView(msgspec.Struct, frozen=True, kw_only=True):
    """A batch of changes of one kind, see `EventKind` for the form of its items."""

    id: int
    at: datetime
    kind: EventKind
    items: list[Any]


class Reset(msgspec.Struct, frozen=True, kw_only=True):
    """Events before this one are missing: read the state again."""

    id: int


class EncodedEvent(msgspec.Struct, frozen=True):
    """An event, encoded once for all listeners."""

    id: int
    view: EventView
    data: bytes


class EventQueries:
    """Reads events."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        self._kept: deque[EncodedEvent] = deque(maxlen=_KEPT)
        self._position = 0
        """All events up to it were read, and the newest of them are kept."""
        self._news = asyncio.Event()
        self.listeners = 0
        """How many callers follow the events now."""
        self._reader: asyncio.Task[None] | None = None
        self._error: Exception | None = None

    async def newest(self) -> int:
        """Return the position after all events so far."""
        return await self._storage.listeners.newest()

    async def page(self, *, after: int, limit: int = 100) -> list[EventView]:
        """Return events in order, those after a position."""
        return [_view(event) for event in await self._storage.queries.events(after=after, limit=limit)]

    async def follow(self, after: int | None = None) -> AsyncGenerator[Sequence[EncodedEvent] | Reset, None]:
        """Yield batches of events as they happen, without gaps: from now on, or from a position on. A Reset comes first
        if events after that position are no longer stored."""
        position = await self.newest() if after is None else after
        if after is not None and await self._has_gap(after):
            position = await self.newest()
            yield Reset(id=position)
        await self._join()
        try:
            while True:
                batch = await self._after(position)
                if batch:
                    position = batch[-1].id
                yield batch
        finally:
            self._leave()

    async def of_tree(self, run_id: str, events: Sequence[EncodedEvent], known: dict[str, bool]) -> list[EventView]:
        """Return the events about a run and the runs below it. `known`: run -> whether it is one of them; it grows."""
        named = {item[0] for event in events if event.view.kind in _OF_RUNS for item in event.view.items}
        unknown = [RunId(one) for one in named if one not in known]
        for one, run in (await self._storage.queries.get_runs(unknown)).items() if unknown else ():
            known[one] = run_id in (one, run.parent_id, run.root_id)
        return [found for event in events if (found := _only(event.view, known)) is not None]

    async def _has_gap(self, after: int) -> bool:
        newest = await self.newest()
        if after > newest:
            return True  # another database, or an older copy of it
        oldest = await self._storage.queries.events(after=0, limit=1)
        first = oldest[0].seq if oldest else newest + 1
        return first > after + 1

    async def _join(self) -> None:
        begin = await self.newest()
        self.listeners += 1
        if self._reader is None or self._reader.done():
            self._kept.clear()
            self._error = None
            self._position = begin
            self._reader = asyncio.create_task(self._read(), name="event reader")

    def _leave(self) -> None:
        self.listeners -= 1
        if not self.listeners and self._reader is not None:
            self._reader.cancel()
            self._reader = None

    async def _read(self) -> None:
        """Read events for all listeners, until there is none."""
        try:
            while True:
                events = await self._storage.queries.events(after=self._position, limit=_PAGE)
                if events:
                    self._kept.extend(_encoded(_view(event)) for event in events)
                    self._position = events[-1].seq
                    self._wake()
                if len(events) < _PAGE:
                    await self._clock.wait(asyncio.Event(), _PAUSE)
        except Exception as error:
            # Every listener raises it; a client connects again and resumes.
            self._error = error
            self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _after(self, position: int) -> Sequence[EncodedEvent]:
        """Return the next events, or none after `HEARTBEAT` without events."""
        news = self._news
        if self._error is not None:
            raise self._error
        if position < self._position:
            if self._kept and self._kept[0].id <= position + 1:
                return [*self._kept][bisect_right(self._kept, position, key=lambda event: event.id) :]
            if found := await self._storage.queries.events(after=position, limit=_PAGE):
                return [_encoded(_view(event)) for event in found]
        await self._clock.wait(news, HEARTBEAT)
        return ()


def _view(event: Event) -> EventView:
    return EventView(id=event.seq, at=to_datetime(event.at), kind=event.kind, items=event.items)


def _encoded(view: EventView) -> EncodedEvent:
    return EncodedEvent(view.id, view, msgspec.json.encode(view))


def _only(event: EventView, known: Mapping[str, bool]) -> EventView | None:
    """Return the event with the items about these runs. None: there are none."""
    if event.kind not in _OF_RUNS:
        return None
    items = [item for item in event.items if known.get(item[0])]
    return msgspec.structs.replace(event, items=items) if items else None
