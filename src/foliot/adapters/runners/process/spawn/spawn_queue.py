"""SpawnQueue for one more process: a launch that finds none waits until another run has ended.

Descriptors, processes and memory come back when a run ends. So as long as one is under way, a want of them is no reason
to fail; when none is, waiting would not help.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from foliot.adapters.clock import SystemClock
from foliot.adapters.runners.process.limits.descriptors import check_reserve
from foliot.adapters.runners.process.spawn.program import is_shortage
from foliot.domain.instant import MINUTE, SECOND, Millis
from foliot.ports.clock import Clock

T = TypeVar("T")

_PATIENCE: Final = Millis(10 * MINUTE)
_LOOK_EVERY: Final = SECOND
"""Others than our own runs may have made room."""


class _Waiter(NamedTuple):
    wake: asyncio.Event
    want: OSError
    """What was wanting when it came."""


class SpawnQueue:
    """The runs with processes under way, and those that wait to become one of them, in their order."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._under_way = 0
        self._waiting: deque[_Waiter] = deque()

    @contextmanager
    def running(self) -> Iterator[None]:
        """For as long as a run is under way."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._wake_next()

    async def start(self, begin: Callable[[], T], on_wait: Callable[[OSError], None]) -> T:
        """Call `begin`, again and again while it raises that something is wanting which a run under way may give back.

        While others wait it is called after them. Raises what `begin` raises otherwise, when nothing is under way, and
        after ten minutes. `on_wait` is told once.
        """
        if self._waiting:
            want = self._waiting[-1].want
        else:
            try:
                return self._begin(begin)
            except OSError as error:
                if not self._may_wait_for(error):
                    raise
                want = OSError(error.errno, error.strerror)  # without the frames in which it was raised
        on_wait(want)
        with self._in_line(want) as waiter:
            return await self._start_later(begin, waiter)

    async def _start_later(self, begin: Callable[[], T], waiter: _Waiter) -> T:
        until = self._clock.elapsed() + _PATIENCE
        while True:
            await self._clock.wait(waiter.wake, _LOOK_EVERY)
            waiter.wake.clear()
            if self._waiting[0] is not waiter:
                continue  # whoever is before it came earlier, and so gives up earlier
            try:
                return self._begin(begin)
            except OSError as error:
                if not self._may_wait_for(error) or self._clock.elapsed() >= until:
                    raise

    def _begin(self, begin: Callable[[], T]) -> T:
        if self._under_way:
            check_reserve()
        return begin()

    def _may_wait_for(self, error: OSError) -> bool:
        return is_shortage(error) and self._under_way > 0

    @contextmanager
    def _in_line(self, want: OSError) -> Iterator[_Waiter]:
        waiter = _Waiter(asyncio.Event(), want)
        self._waiting.append(waiter)
        try:
            yield waiter
        finally:
            self._waiting.remove(waiter)
            # Several may have ended meanwhile, and who was woken may not need what there is.
            self._wake_next()

    def _wake_next(self) -> None:
        if self._waiting:
            self._waiting[0].wake.set()


_queues: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, SpawnQueue]] = WeakKeyDictionary()


def spawn_queue() -> SpawnQueue:
    """The one of this event loop: a worker has one loop."""
    loop = asyncio.get_running_loop()
    if loop not in _queues:
        _queues[loop] = SpawnQueue(SystemClock())
    return _queues[loop]
