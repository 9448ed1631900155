"""Creates a new SQLite file or PostgreSQL database for every measurement."""

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw
import psycopg

from bench.processes import Family
from foliot.testing.postgres import PostgresServer


class Database(Enum):
    NONE = auto()
    SQLITE = auto()
    POSTGRES = auto()


@contextmanager
def old_snapshot(place: str) -> Iterator[None]:
    """Keep a snapshot of a PostgreSQL database open, as a backup does: nothing can be vacuumed meanwhile."""
    with psycopg.connect(place) as session:
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        session.execute("SELECT 1")
        yield


class Places:
    """A directory and, on first use, a durable PostgreSQL server; both are removed afterwards."""

    def __init__(self) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="foliot-bench-"))
        self._numbers = itertools.count(1)

    @contextmanager
    def fresh(self, database: Database) -> Iterator[tuple[str, str]]:
        """Yield an empty database and an empty directory for marks, as (place, marks)."""
        number = next(self._numbers)
        marks = self._root / str(number)
        marks.mkdir()
        try:
            if database is Database.POSTGRES:
                yield self._server.create_database(f"bench{number}"), str(marks)
            else:
                yield str(marks / "bench.db"), str(marks)
        finally:
            if database is Database.POSTGRES:
                self._server.drop_database(f"bench{number}")
            shutil.rmtree(marks)

    def size(self, place: str) -> int:
        """Return the bytes of a database on disk, without its write-ahead log."""
        if place.startswith("postgresql"):
            with psycopg.connect(place) as session:
                row = session.execute("SELECT pg_database_size(current_database())").fetchone()
            assert row is not None
            return int(row[0])
        # The last connection that closes moves the log into the file.
        apsw.Connection(place).close()
        return Path(place).stat().st_size

    def server_seconds(self, database: Database) -> float:
        """Return the processor time that the database's own processes have used so far."""
        return self._processes.cpu_seconds() if database is Database.POSTGRES else 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if "_server" in self.__dict__:
            self._server.stop()
        shutil.rmtree(self._root, ignore_errors=True)

    @cached_property
    def _processes(self) -> Family:
        return Family(int((self._server.directory / "data" / "postmaster.pid").read_text().split()[0]))

    @cached_property
    def _server(self) -> PostgresServer:
        # Only settings that every installation would change for a queue; the rest, such as durability, is the default.
        return PostgresServer.start(is_durable=True, settings={"shared_buffers": "256MB", "max_wal_size": "4GB"})
