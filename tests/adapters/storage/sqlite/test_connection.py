"""A connection is used by one thread at a time, and by no thread during a fork."""

import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.sqlite.database.connection import Connection, after_fork
from foliot.errors import StorageUnavailable
from foliot.wiring import storage as wiring_storage


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    connection = Connection(lambda: apsw.Connection(str(tmp_path / "some.db")))
    yield connection
    connection.close()


def forked(connection: Connection) -> None:
    """Do what a fork does to a connection, without forking."""
    connection.suspend()
    connection.resume()


def test_the_next_user_after_a_fork_connects_again(connection: Connection) -> None:
    with connection as handle:
        handle.execute("CREATE TABLE numbers (n); INSERT INTO numbers VALUES (1)")

    forked(connection)

    with pytest.raises(apsw.ConnectionClosedError):
        handle.execute("SELECT 1")
    with connection as again:
        assert again.execute("SELECT n FROM numbers").fetchall() == [(1,)]


def test_a_connection_created_at_the_begin_of_a_fork_is_closed(connection: Connection) -> None:
    with connection as handle:
        handle.execute("SELECT 1")

    # The hook of `wiring.storage` calls this for a module that was loaded too late to register its own hook.
    wiring_storage._before_fork()
    wiring_storage._LOADING.release()
    after_fork()

    with pytest.raises(apsw.ConnectionClosedError):
        handle.execute("SELECT 1")
    with connection as again:
        assert again.execute("SELECT 1").fetchall() == [(1,)]


def test_a_fork_waits_for_the_user_of_a_connection(connection: Connection) -> None:
    happened: list[str] = []

    def fork_elsewhere() -> None:
        connection.suspend()
        happened.append("suspended")
        connection.resume()

    with connection:
        fork = threading.Thread(target=fork_elsewhere)
        fork.start()
        happened.append("used")
    fork.join()

    assert happened == ["used", "suspended"]


def test_the_function_for_reconnecting_is_used_after_a_fork(tmp_path: Path) -> None:
    ways: list[str] = []

    def connect(way: str) -> apsw.Connection:
        ways.append(way)
        return apsw.Connection(str(tmp_path / "some.db"))

    connection = Connection.open(lambda: connect("first"), again=lambda: connect("again"))
    for _ in range(2):
        forked(connection)
        with connection:
            pass
    connection.close()

    assert ways == ["first", "again", "again"]


def test_a_closed_connection_stays_closed(connection: Connection) -> None:
    connection.close()
    with pytest.raises(StorageUnavailable, match="closed"), connection:
        pass

    forked(connection)
    with pytest.raises(StorageUnavailable, match="closed"), connection:
        pass


def test_after_a_failure_the_next_user_connects(tmp_path: Path) -> None:
    path = tmp_path / "later" / "some.db"
    connection = Connection(lambda: apsw.Connection(str(path)))
    with pytest.raises(apsw.CantOpenError), connection:
        pass

    path.parent.mkdir()
    with connection as handle:
        assert handle.execute("SELECT 1").fetchall() == [(1,)]
    connection.close()
