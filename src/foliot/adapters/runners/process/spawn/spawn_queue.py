"""Queues starts that fail because of a shortage, until another run has ended.

Descriptors, processes and memory become free when a run ends. So while a run is running, a shortage is a reason to
wait; if none is running, waiting would not help.
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

_LONGEST_WAIT: Final = Millis(10 * MINUTE)
_RETRY_EVERY: Final = SECOND
"""Resources may also become free by other means than the end of a run."""


class _Waiter(NamedTuple):
    wake: asyncio.Event
    shortage: OSError
    """The shortage when it entered the queue."""


class SpawnQueue:
    """Counts the running processes of runs, and keeps the waiting starts in order."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._running = 0
        self._waiting: deque[_Waiter] = deque()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count a run as running inside the block."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._wake_next()

    async def start(self, begin: Callable[[], T], on_wait: Callable[[OSError], None]) -> T:
        """Call `begin`, and repeat the call while it fails because of a shortage and other runs are running.

        Earlier waiting starts are served first. Raises the errors of `begin` that are no shortage, and a shortage if no
        run is running or after ten minutes. `on_wait` is called once, before the first wait.
        """
        if self._waiting:
            shortage = self._waiting[-1].shortage
        else:
            try:
                return self._begin(begin)
            except OSError as error:
                if not self._may_wait_for(error):
                    raise
                # A copy without traceback, which would keep frames alive.
                shortage = OSError(error.errno, error.strerror)
        on_wait(shortage)
        with self._in_line(shortage) as waiter:
            return await self._start_later(begin, waiter)

    async def _start_later(self, begin: Callable[[], T], waiter: _Waiter) -> T:
        until = self._clock.elapsed() + _LONGEST_WAIT
        while True:
            await self._clock.wait(waiter.wake, _RETRY_EVERY)
            waiter.wake.clear()
            if self._waiting[0] is not waiter:
                continue  # the start before it has waited longer, and so gives up earlier
            try:
                return self._begin(begin)
            except OSError as error:
                if not self._may_wait_for(error) or self._clock.elapsed() >= until:
                    raise

    def _begin(self, begin: Callable[[], T]) -> T:
        if self._running:
            check_reserve()
        return begin()

    def _may_wait_for(self, error: OSError) -> bool:
        return is_shortage(error) and self._running > 0

    @contextmanager
    def _in_line(self, shortage: OSError) -> Iterator[_Waiter]:
        waiter = _Waiter(asyncio.Event(), shortage)
        self._waiting.append(waiter)
        try:
            yield waiter
        finally:
            self._waiting.remove(waiter)
            # Several runs may have ended, and the start that was woken may not need what they freed.
            self._wake_next()

    def _wake_next(self) -> None:
        if self._waiting:
            self._waiting[0].wake.set()


_queues: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, SpawnQueue]] = WeakKeyDictionary()


def spawn_queue() -> SpawnQueue:
    """Return the queue of this event loop: a worker has one loop."""
    loop = asyncio.get_running_loop()
    if loop not in _queues:
        _queues[loop] = SpawnQueue(SystemClock())
    return _queues[loop]
