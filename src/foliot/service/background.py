"""An event loop in a thread, for code that has none of its own."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """Runs coroutines in one thread, started with the first of them. It ends with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Wait for the answer of a coroutine. Not to be called from within an event loop: it would stand still."""
        return asyncio.run_coroutine_threadsafe(call, self._started()).result()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="foliot-background", daemon=True).start()
            return self._loop
