"""Results of a fanout for functions in this process: `current_run().results()`."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import wait
from threading import get_ident
from typing import Any, Final

from foliot.adapters.runners.function_output import Home
from foliot.domain.fanout.result import ChildResult, ItemResult, ResultQuery, result_of
from foliot.errors import WrongLoop
from foliot.ports.runner import ReadResults

_LOOK_EVERY: Final = 1.0
"""Seconds between two checks that the loop of the worker is still open."""
Page = list[ChildResult]


class FunctionResults:
    """Fills `domain.fanout.result.Results`. Coroutines use `async for`; functions in threads use `for`."""

    def __init__(self, read: ReadResults, home: Home, failed: bool) -> None:
        self._read = read
        self._loop, self._thread = home
        self._first = ResultQuery(failed=failed)

    async def __aiter__(self) -> AsyncIterator[ItemResult]:
        query = self._first
        while page := await self._read(query):
            for child in page:
                yield result_of(child)
            query = query._replace(after=page[-1].index)

    def __iter__(self) -> Iterator[ItemResult]:
        query = self._first
        while page := self._fetch(self._read(query)):
            yield from map(result_of, page)
            query = query._replace(after=page[-1].index)

    def _fetch(self, reading: Coroutine[Any, Any, Page]) -> Page:
        if get_ident() == self._thread:
            return _run_through(reading)
        future = asyncio.run_coroutine_threadsafe(reading, self._loop)
        while not wait([future], _LOOK_EVERY).done:
            if self._loop.is_closed():
                raise WrongLoop("the worker was stopped", hint="The run is given back and starts again.")
        return future.result()


def _run_through(reading: Coroutine[Any, Any, Page]) -> Page:
    """Run a read that never waits, as in tests with a virtual clock."""
    try:
        while reading.send(None) is None:
            pass
    except StopIteration as end:
        page: Page = end.value
        return page
    reading.close()
    raise WrongLoop(
        "`for` would block the event loop of the worker",
        hint="In a coroutine function write: async for result in current_run().results()",
    )
