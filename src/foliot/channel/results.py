"""Reads the results of a fanout from the worker: `foliot results`, and `current_run().results()` in isolated functions.

The results come in pages, so that a million of them need no more memory than a few.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from contextlib import closing
from typing import Any, Final

from foliot.channel.client import Asker, from_environment
from foliot.domain.fanout.result import ItemResult, read_record
from foliot.errors import ChannelUnavailable

_TIMEOUT: Final = 60.0
"""Seconds for one page. The worker reads it from the database, which may be busy."""
Records = list[dict[str, Any]]


class ChannelResults:
    """Fills `domain.fanout.result.Results`. Each iteration begins with the first item."""

    def __init__(self, *, failed: bool = False, environ: Mapping[str, str] | None = None) -> None:
        self._failed = failed
        self._environ = os.environ if environ is None else environ

    def __iter__(self) -> Iterator[ItemResult]:
        for page in self.pages():
            yield from map(read_record, page)

    async def __aiter__(self) -> AsyncIterator[ItemResult]:
        pages = self.pages()
        try:
            while (page := await asyncio.to_thread(next, pages, None)) is not None:
                for record in page:
                    yield read_record(record)
        finally:
            pages.close()

    def pages(self) -> Generator[Records]:
        """Yield the results as JSON objects, many at a time."""
        return _pages(from_environment(self._environ, timeout=_TIMEOUT), failed=self._failed)


def _pages(client: Asker, *, failed: bool) -> Generator[Records]:
    after = -1
    with closing(client):
        while page := _read(client.ask("results", after=after, failed=failed)):
            yield page
            after = page[-1]["index"]


def _read(answer: Mapping[str, Any]) -> Records:
    page = answer.get("results")
    if not isinstance(page, list) or not all(isinstance(one, dict) and "index" in one for one in page):
        raise ChannelUnavailable("the answer of the worker has no results", hint="Is the worker of another version?")
    return page
