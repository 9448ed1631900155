"""Opens a database file, and reads it directly."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.testing.clock import VirtualClock


@asynccontextmanager
async def opened(path: Path, **options: Any) -> AsyncIterator[SqliteStorage]:
    storage = await SqliteStorage.open(path, **{"clock": VirtualClock(), "synchronous": "NORMAL", **options})
    try:
        yield storage
    finally:
        await storage.close()


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return rows, read without the storage."""
    connection = apsw.Connection(str(path))
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def dump(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables."""
    tables = [name for (name,) in rows(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    return {table: sorted(rows(path, f"SELECT * FROM {table}"), key=repr) for table in tables if table != "counters"}


def names(directory: Path) -> list[str]:
    return sorted(file.name for file in directory.iterdir())


def rights_of_others(directory: Path) -> dict[str, int]:
    """Return the rights of group and others for each file."""
    return {file.name: file.stat().st_mode & 0o077 for file in directory.iterdir()}
