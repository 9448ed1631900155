"""An event loop in a thread, for calls from plain code."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import aclosing
from typing import Any, Final, TypeVar

from foliot.errors import WrongLoop

T = TypeVar("T")
_END: Final = object()


class LoopThread:
    """Runs coroutines for any thread. It starts with the first call, and ends with `stop` or with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def wait(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result. Interrupting the wait cancels the coroutine."""
        loop = self._started()
        if threading.current_thread() is self._thread:
            call.close()
            raise WrongLoop("the call would wait for itself", hint="In async code use AsyncClient.")
        future = asyncio.run_coroutine_threadsafe(call, loop)
        try:
            return future.result()
        except CancelledError:
            raise WrongLoop("the client was closed during the call", hint="Make the call again.") from None
        except BaseException:
            future.cancel()
            raise

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """Yield the items of an asynchronous iterator, which is closed when the caller stops."""
        try:
            while (item := self.wait(_next(items))) is not _END:
                yield item
        finally:
            self.wait(_close(items))

    def stop(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a last coroutine and end the thread, if it has started."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        if threading.current_thread() is thread:  # the last reference to the client was dropped here
            loop.stop()
            return
        asyncio.run_coroutine_threadsafe(_end_tasks(), loop).result()
        asyncio.run_coroutine_threadsafe(last(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="foliot-client", daemon=True)
                self._thread.start()
            return self._loop


async def _end_tasks() -> None:
    """End the calls of other threads, so that they do not wait for a loop that has stopped."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


async def _next(items: AsyncIterator[Any]) -> Any:
    return await anext(items, _END)


async def _close(items: Any) -> None:
    async with aclosing(items):
        pass
