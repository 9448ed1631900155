"""Reads a contender's database from outside, to count committed work."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import apsw
import psycopg

from bench.children import Child, ChildFailed, Contender, deadline
from bench.marks import read_mark
from bench.orders import Order
from bench.places import Database

_EVERY = 0.003


class Watcher:
    """Executes one query repeatedly. A query costs far less than the pause between two."""

    def __init__(self, contender: Contender, order: Order) -> None:
        self._question = contender.remaining
        self._ask, self._close = _open(contender.database, order.place)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def remaining(self) -> int:
        return self._ask(self._question)


def wait_until_done(contender: Contender, order: Order, child: Child) -> float:
    """Return the time (monotonic) at which all work is done and committed.

    Counting the remaining work costs the more, the more is done, so it is not counted before the last start.
    """
    last = wait_for_mark(order, "last", child)
    return wait_until_empty(contender, order, child) if contender.remaining else last


def wait_until_empty(contender: Contender, order: Order, child: Child) -> float:
    """Return the time (monotonic) at which no work remains."""
    with Watcher(contender, order) as watcher:
        until = deadline()
        while watcher.remaining():
            _pause(child, until)
        return time.monotonic()


def wait_for_mark(order: Order, name: str, child: Child) -> float:
    """Return the time (monotonic) that the child recorded."""
    until = deadline()
    while (found := read_mark(order.marks, name)) is None:
        _pause(child, until)
    return found


def _pause(child: Child, until: float) -> None:
    child.check()
    if time.monotonic() > until:
        raise ChildFailed("a measurement did not end")
    time.sleep(_EVERY)


def _open(database: Database, place: str) -> tuple[Callable[[str], int], Callable[[], object]]:
    if database is Database.POSTGRES:
        session = psycopg.connect(place, autocommit=True)
        return lambda question: _first(session.execute(question.encode()).fetchone()), session.close
    file = apsw.Connection(place)
    file.set_busy_timeout(5_000)
    return lambda question: _first(file.execute(question).fetchone()), file.close


def _first(row: object) -> int:
    assert isinstance(row, tuple)
    return int(row[0])
