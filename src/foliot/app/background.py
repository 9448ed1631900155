"""Calls from plain code: the background event loop, and waiting for a call on a loop in another thread."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, wait
from typing import Any, Final, TypeVar

from foliot.errors import WrongLoop

T = TypeVar("T")

_LOOK_EVERY: Final = 1.0
"""Seconds between two checks that the loop of a call is still open."""


class Background:
    """An event loop in a thread, started by the first call that needs it. The thread ends with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="foliot-background", daemon=True).start()
            return self._loop


def wait_on(loop: asyncio.AbstractEventLoop, call: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop in another thread and return its result.

    Interrupting the wait cancels the coroutine. A loop that closes before the result is there raises WrongLoop.
    """
    future = asyncio.run_coroutine_threadsafe(call, loop)
    try:
        while not wait([future], _LOOK_EVERY).done:
            if loop.is_closed():
                raise WrongLoop("the event loop was closed before the call had ended", hint="Make the call again.")
    except BaseException:
        future.cancel()
        raise
    try:
        return future.result()
    except CancelledError:
        raise WrongLoop(
            "the call was cancelled on its event loop",
            hint="A loop that ends cancels its tasks. Make the call again.",
        ) from None


def run_through(call: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, on this thread, whether or not a loop runs here."""
    try:
        while call.send(None) is None:
            pass
    except StopIteration as end:
        result: T = end.value
        return result
    call.close()
    raise same_loop()


def same_loop() -> WrongLoop:
    """Return the error for a call that would block the loop that has to run it."""
    return WrongLoop(
        "app.wait would block the event loop that has to run the call",
        hint="In async code write: await app.enqueue(...). Plain code that async code calls has to be async as well.",
    )
