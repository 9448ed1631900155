"""Room for one more process: a launch that finds none waits until another run has ended.

Descriptors, processes and memory come back when a run ends. So as long as one is under way, a want of them is no reason
to fail; when none is, waiting would not help.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

from foliot.adapters.clock import SystemClock
from foliot.adapters.runners.process.descriptors import leave_some
from foliot.adapters.runners.process.launch import is_want
from foliot.domain.instant import MINUTE, SECOND, Millis
from foliot.ports.clock import Clock

T = TypeVar("T")

_PATIENCE: Final = Millis(10 * MINUTE)
_LOOK_EVERY: Final = SECOND
"""Others than our own runs may have made room."""


class Room:
    """The runs with processes under way, and those that wait to become one of them, in their order."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._under_way = 0
        self._waiting: deque[asyncio.Event] = deque()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """For as long as a run is under way."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._wake_next()

    async def start(self, begin: Callable[[], T], on_wait: Callable[[OSError], None]) -> T:
        """Call `begin`, again and again while it raises that something is wanting which a run under way may give back.

        Raises what `begin` raises otherwise, when nothing is under way, and after ten minutes. `on_wait` is told once.
        """
        try:
            return self._begin(begin)
        except OSError as error:
            if not self._may_wait_for(error):
                raise
            on_wait(error)
        with self._in_line() as wake:
            return await self._start_later(begin, wake)

    async def _start_later(self, begin: Callable[[], T], wake: asyncio.Event) -> T:
        until = self._clock.elapsed() + _PATIENCE
        while True:
            await self._clock.wait(wake, _LOOK_EVERY)
            wake.clear()
            try:
                return self._begin(begin)
            except OSError as error:
                if not self._may_wait_for(error) or self._clock.elapsed() >= until:
                    raise

    def _begin(self, begin: Callable[[], T]) -> T:
        if self._under_way:
            leave_some()
        return begin()

    def _may_wait_for(self, error: OSError) -> bool:
        return is_want(error) and self._under_way > 0

    @contextmanager
    def _in_line(self) -> Iterator[asyncio.Event]:
        wake = asyncio.Event()
        self._waiting.append(wake)
        try:
            yield wake
        finally:
            self._waiting.remove(wake)
            # Several may have ended meanwhile, and who was woken may not need what there is.
            self._wake_next()

    def _wake_next(self) -> None:
        if self._waiting:
            self._waiting[0].set()


_rooms: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Room]] = WeakKeyDictionary()


def room() -> Room:
    """The one of this event loop: a worker has one loop."""
    loop = asyncio.get_running_loop()
    if loop not in _rooms:
        _rooms[loop] = Room(SystemClock())
    return _rooms[loop]
