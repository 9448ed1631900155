"""A line is used by one at a time, and by nobody while the process forks."""

import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from foliot import wiring
from foliot.adapters.storage.sqlite.line import Line, after_fork
from foliot.errors import StorageUnavailable


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    line = Line(lambda: apsw.Connection(str(tmp_path / "some.db")))
    yield line
    line.close()


def forked(line: Line) -> None:
    """What a fork does to a line, without one."""
    line.cut()
    line.mend()


def test_who_needs_it_after_a_fork_connects_again(line: Line) -> None:
    with line as connection:
        connection.execute("CREATE TABLE numbers (n); INSERT INTO numbers VALUES (1)")

    forked(line)

    with pytest.raises(apsw.ConnectionClosedError):
        connection.execute("SELECT 1")
    with line as again:
        assert again.execute("SELECT n FROM numbers").fetchall() == [(1,)]


def test_a_line_that_came_while_a_fork_was_beginning_is_cut_as_well(line: Line) -> None:
    with line as connection:
        connection.execute("SELECT 1")

    # What ours asks for when it has waited until all was loaded; the module itself came too late to be asked.
    wiring._before_fork()
    wiring._LOADING.release()
    after_fork()

    with pytest.raises(apsw.ConnectionClosedError):
        connection.execute("SELECT 1")
    with line as again:
        assert again.execute("SELECT 1").fetchall() == [(1,)]


def test_a_fork_waits_for_who_uses_it(line: Line) -> None:
    happened: list[str] = []

    def fork_elsewhere() -> None:
        line.cut()
        happened.append("cut")
        line.mend()

    with line:
        fork = threading.Thread(target=fork_elsewhere)
        fork.start()
        happened.append("used")
    fork.join()

    assert happened == ["used", "cut"]


def test_to_connect_again_may_be_another_way_than_the_first(tmp_path: Path) -> None:
    ways: list[str] = []

    def connect(way: str) -> apsw.Connection:
        ways.append(way)
        return apsw.Connection(str(tmp_path / "some.db"))

    line = Line.open(lambda: connect("first"), again=lambda: connect("again"))
    for _ in range(2):
        forked(line)
        with line:
            pass
    line.close()

    assert ways == ["first", "again", "again"]


def test_a_closed_line_stays_closed(line: Line) -> None:
    line.close()
    with pytest.raises(StorageUnavailable, match="closed"), line:
        pass

    forked(line)
    with pytest.raises(StorageUnavailable, match="closed"), line:
        pass


def test_a_connection_that_fails_leaves_the_line_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "later" / "some.db"
    line = Line(lambda: apsw.Connection(str(path)))
    with pytest.raises(apsw.CantOpenError), line:
        pass

    path.parent.mkdir()
    with line as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
    line.close()
