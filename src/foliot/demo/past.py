"""Databases on a virtual clock, for the time in which the history is made.

SQLite    a file, which takes its time from the clock that it is opened with. It gets its name when it is complete.
others    take their time from a server, unless a call gives another one (`at`): every call gets it from the clock.
"""

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from foliot.adapters.clock import SystemClock
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.adapters.storage.sqlite.storage import parse_url
from foliot.domain.access.actor import Actor
from foliot.errors import FoliotError
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.wiring.storage import open_storage

_SCHEME: Final = "sqlite:"


@asynccontextmanager
async def open_in_the_past(url: str, clock: VirtualClock) -> AsyncIterator[Storage]:
    """Open the empty database at a URL with the time of `clock`. One that is not empty is refused."""
    opened = _open_file(url, clock) if url.startswith(_SCHEME) else _open_server(url, clock)
    async with opened as storage:
        yield storage


@asynccontextmanager
async def _open_file(url: str, clock: VirtualClock) -> AsyncIterator[Storage]:
    path = parse_url(url).path
    if path.exists():
        raise _not_empty(f"the database {path} exists already")
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".foliot-demo-", dir=path.parent) as directory:
        draft = Path(directory) / path.name
        opened = await SqliteStorage.open(draft, clock=clock, inline=True, synchronous="NORMAL")
        try:
            yield cast(Storage, opened)
        finally:
            await opened.close()
        for file in draft.parent.iterdir():
            file.rename(path.parent / file.name)


@asynccontextmanager
async def _open_server(url: str, clock: VirtualClock) -> AsyncIterator[Storage]:
    opened = await open_storage(url, SystemClock())
    try:
        if not await _is_empty(opened):
            raise _not_empty("the database has jobs, schedules or runs")
        yield cast(Storage, _ClockedStorage(opened, clock))
    finally:
        await opened.close()


async def _is_empty(storage: Storage) -> bool:
    definitions = storage.definitions
    return not (
        await definitions.page_jobs(limit=1)
        or await definitions.page_schedules(limit=1)
        or await storage.queries.page_runs(RunFilter(limit=1))
    )


def _not_empty(fact: str) -> FoliotError:
    return FoliotError(
        fact,
        hint="The demo needs a database of its own. Name another directory with --directory, or an empty database with "
        "--storage. An existing demo is served with: foliot serve --config DIRECTORY/foliot.toml",
    )


class _ClockedStorage:
    """A storage whose verbs use the time of a clock."""

    def __init__(self, storage: Storage, clock: VirtualClock) -> None:
        self._storage = storage
        self.clock = clock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._storage, name)
        if isinstance(getattr(Storage, name, None), property):
            found = _ClockedStore(found, self.clock)
            setattr(self, name, found)
        return found

    @property
    def actor(self) -> Actor:
        return self._storage.actor

    def acting_as(self, actor: Actor) -> "_ClockedStorage":
        return _ClockedStorage(self._storage.acting_as(actor), self.clock)


class _ClockedStore:
    """One port of a storage."""

    def __init__(self, store: object, clock: VirtualClock) -> None:
        self._store = store
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._store, name)
        if not inspect.iscoroutinefunction(verb) or not _takes_time(verb.__func__):
            return verb

        def call(*arguments: Any, **named: Any) -> Any:
            return verb(*arguments, **{"at": self._clock.now(), **named})

        setattr(self, name, call)
        return call


@cache
def _takes_time(verb: Callable[..., Any]) -> bool:
    return "at" in inspect.signature(verb).parameters
