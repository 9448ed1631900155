"""A line to the database that a fork of the process interrupts, and never takes along.

SQLite keeps one account of its locks for all connections of a process. A child inherits that account without the locks:
a connection that it opens itself would believe to hold them, and lose the log it writes to when its parent closes the
file. So before a fork whoever uses a line comes to an end with it, and all lines are cut; afterwards whoever needs one
connects again.
"""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self
from weakref import WeakSet

import apsw

from foliot.errors import StorageUnavailable

Connect = Callable[[], apsw.Connection]


class Line:
    """One connection, for one thread at a time: `with line as connection`."""

    def __init__(self, connect: Connect, *, again: Connect | None = None) -> None:
        """`again` connects after a fork, where that differs from the first time."""
        self._connect = connect
        self._again = again or connect
        self._connection: apsw.Connection | None = None
        self._turn = threading.Lock()
        _FORK.include(self)

    @classmethod
    def open(cls, connect: Connect, *, again: Connect) -> Self:
        """A line that is connected already."""
        line = cls(connect, again=again)
        with line:
            return line

    def __enter__(self) -> apsw.Connection:
        self._turn.acquire()
        if self._connection is None:
            try:
                self._connection = self._connect()
            except BaseException:
                self._turn.release()
                raise
            self._connect = self._again
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._turn.release()

    def close(self) -> None:
        """For good: who wants to use it afterwards is told so."""
        with self._turn:
            self._connect = self._again = _refuse
            self._let_go()

    def cut(self) -> None:
        """Close the connection, and keep everybody from the line until somebody mends it."""
        self._turn.acquire()
        with suppress(apsw.Error):
            self._let_go()

    def mend(self) -> None:
        """Let the next who needs it connect again."""
        self._turn.release()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _refuse() -> apsw.Connection:
    raise StorageUnavailable("the storage is closed", hint="Open it again.")


class _Fork:
    """A fork under way in one thread: all others stay off every line until it is over."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._thread: int | None = None
        self._lines: WeakSet[Line] = WeakSet()
        self._cut: list[Line] = []

    def include(self, line: Line) -> None:
        """A new one comes into being before a fork or after it."""
        with self._turn:
            self._lines.add(line)

    def begin(self) -> None:
        """Asked again by the same thread, it has begun already."""
        if self._thread == threading.get_ident():
            return
        self._turn.acquire()
        self._thread = threading.get_ident()
        for line in list(self._lines):
            line.cut()
            self._cut.append(line)

    def end(self) -> None:
        """In both processes: the thread that forked holds every lock in either."""
        if self._thread != threading.get_ident():
            return  # this module was loaded by another thread while the fork was beginning
        while self._cut:
            self._cut.pop().mend()
        self._thread = None
        self._turn.release()


_FORK: Final = _Fork()
before_fork: Final = _FORK.begin
after_fork: Final = _FORK.end
os.register_at_fork(before=before_fork, after_in_parent=after_fork, after_in_child=after_fork)
