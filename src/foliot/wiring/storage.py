"""Opens databases. Adapters are imported on first use: a program that uses SQLite never loads another driver."""

import os
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from foliot.domain.input.words import text
from foliot.domain.secrets import public_url
from foliot.errors import DriverMissing, InvalidInput, suggest
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage


class Adapter(NamedTuple):
    """Where an adapter lives, and the optional package it needs."""

    path: str
    package: str = ""
    extra: str = ""


STORAGES: Final[Mapping[str, Adapter]] = {
    "sqlite": Adapter("foliot.adapters.storage.sqlite.storage:open_url"),
    "postgresql": Adapter("foliot.adapters.storage.postgres.storage:open_url", "asyncpg", "postgres"),
    "postgres": Adapter("foliot.adapters.storage.postgres.storage:open_url", "asyncpg", "postgres"),
}

BACKUPS: Final[Mapping[str, Adapter]] = {"sqlite": Adapter("foliot.adapters.storage.sqlite.backup:back_up")}
"""Databases that `foliot backup` can copy; a database server has its own tools."""

OpenStorage = Callable[..., Awaitable[Storage]]

BackUp = Callable[[str, Path, Callable[[int, int], None]], Awaitable[list[Path]]]

_LOADING: Final = threading.Lock()

_SQLITE: Final = "foliot.adapters.storage.sqlite.database.connection"


def _before_fork() -> None:
    """Wait for an import in another thread: a child forked during an import finds the module locked for ever.

    A module that was loaded during the wait registered its own hook too late, so it is called here.
    """
    _LOADING.acquire()
    if late := sys.modules.get(_SQLITE):
        late.before_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_LOADING.release, after_in_child=_LOADING.release)


async def open_storage(url: str, clock: Clock, *, create: bool = True) -> Storage:
    """Open the database at a URL: sqlite:///relative.db, sqlite:////absolute.db or postgresql://...

    A missing database is created, and an old schema is upgraded. Without `create`, both are refused.
    """
    opener = cast(OpenStorage, _load(*_adapter(url)))
    return await opener(url, clock=clock, faults=fault_points(), create=create)


def _adapter(url: str) -> tuple[str, Adapter]:
    """Return the scheme of a URL and the adapter for it."""
    text(url, "storage", InvalidInput)
    scheme = url.partition("://")[0]
    adapter = STORAGES.get(scheme) if "://" in url else None
    if adapter is None:
        raise InvalidInput(
            f"storage {public_url(url)[:128]!a} is not a supported database",
            hint=suggest(scheme, STORAGES, otherwise="Use sqlite:///foliot.db or postgresql://user@host/database."),
            field="storage",
        )
    return scheme, adapter


async def back_up(url: str, target: Path, progress: Callable[[int, int], None]) -> list[Path]:
    """Copy the database at a URL in one consistent state and return the new files. Never overwrites a file."""
    scheme, _ = _adapter(url)
    if scheme not in BACKUPS:
        raise InvalidInput(
            f"foliot backup copies files, but {scheme} is a server",
            hint="Use its own tools: pg_dump and pg_restore.",
            field="storage",
        )
    return await cast(BackUp, _load(scheme, BACKUPS[scheme]))(url, target, progress)


def fault_points() -> Callable[[str], None]:
    """Return the fault points for tests, set by FOLIOT_FAULT. Refused if FOLIOT_ENV is production."""
    if "FOLIOT_FAULT" not in os.environ:
        return lambda name: None
    module = import_module("foliot.adapters.faults")
    return cast(Callable[[str], None], module.from_environment(os.environ))


def _load(name: str, adapter: Adapter) -> Any:
    module, _, attribute = adapter.path.partition(":")
    try:
        with _LOADING:
            return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if adapter.package and error.name == adapter.package:
            raise DriverMissing(name, adapter.package, adapter.extra) from None
        raise
