"""Calling coroutines from code without an event loop of its own."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future, wait
from typing import Any, Final, TypeVar

from foliot.errors import WrongLoop

T = TypeVar("T")

_LOOK_EVERY: Final = 1.0
"""Seconds between two checks that the loop of a call is still open."""


class Background:
    """An event loop in a thread, started by the first call. It ends with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: set[Future[Any]] = set()

    def owns(self, loop: asyncio.AbstractEventLoop) -> bool:
        return loop is self._loop

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="foliot-background", daemon=True).start()
            return self._loop

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the background loop and return its result."""
        loop = self.loop
        with self._lock:  # `after_others` sees every call that may have started
            future = asyncio.run_coroutine_threadsafe(call, loop)
            self._calls.add(future)
        future.add_done_callback(self._calls.discard)
        return _answer(loop, future)

    def after_others(self, call: Coroutine[Any, Any, T]) -> "Future[T]":
        """Schedule a coroutine to run when all current calls have ended."""
        with self._lock:
            others = list(self._calls)

        async def last() -> T:
            await asyncio.gather(*map(asyncio.wrap_future, others), return_exceptions=True)
            return await call

        return asyncio.run_coroutine_threadsafe(last(), self.loop)


def wait_on(loop: asyncio.AbstractEventLoop, call: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop in another thread and return its result."""
    return _answer(loop, asyncio.run_coroutine_threadsafe(call, loop))


def _answer(loop: asyncio.AbstractEventLoop, future: "Future[T]") -> T:
    """Return the result of a call. Interrupting the wait cancels it; a closed loop raises WrongLoop."""
    try:
        while not wait([future], _LOOK_EVERY).done:
            if loop.is_closed():
                raise WrongLoop("the event loop ended before it had answered", hint="Ask again.")
    except BaseException:
        future.cancel()
        raise
    try:
        return future.result()
    except CancelledError:
        raise WrongLoop(
            "the call was cancelled on the event loop that had to answer it",
            hint="So is all that is under way there when the loop ends. Ask again.",
        ) from None


def run_through(call: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, whatever loop runs in this thread."""
    try:
        while call.send(None) is None:
            pass
    except StopIteration as end:
        answer: T = end.value
        return answer
    call.close()
    raise same_loop()


def same_loop() -> WrongLoop:
    """Return the error for a call that would block the loop that has to run it."""
    return WrongLoop(
        "the answer would have to come from the event loop that waits for it",
        hint="In async code write: await app.enqueue(...). Plain code that is called from it has to be async as well.",
    )
