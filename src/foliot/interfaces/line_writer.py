"""Writing lines in a separate thread, so that the caller never waits for the reader.

    put --> bounded buffer --> thread --> descriptor       buffer full or write failed: dropped, counted, reported later

A pipe that is not read, or a terminal stopped with Ctrl-S, blocks only this thread.
"""

import os
import select
import threading
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Final
from weakref import WeakSet

_MOST: Final = 4 << 20
"""Characters in the buffer. Further lines are dropped and counted."""
_LINE_TIMEOUT: Final = 2.0
"""Seconds that `flush` waits for the next line to be written."""
_LONGEST_FLUSH: Final = 10.0


class LineWriter:
    """Writes lines in order, each with one call, so that a short line is not mixed with those of other processes.

    It writes to the descriptor, not to a stream: a thread that blocks in a stream holds the lock of the stream, which
    the interpreter needs when it ends.
    """

    def __init__(
        self,
        descriptor: int,
        dropped_line: Callable[[int], str],
        *,
        encoding: str = "utf-8",
        most: int = _MOST,
        line_timeout: float = _LINE_TIMEOUT,
    ) -> None:
        self._descriptor = descriptor
        self._dropped_line = dropped_line
        self._encoding = encoding
        self._most = most
        self._line_timeout = line_timeout
        self._lines: list[str] = []
        self._size = 0
        self._dropped = 0
        self._written = 0
        self._is_idle = True
        self._stuck_at: int | None = None
        """The number of written lines when a wait for one more line timed out."""
        self._until = inf
        """The deadline of all waits for the buffer to become empty."""
        self._is_torn = False
        self._is_forked = False
        self._changed = threading.Condition()
        _WRITERS.add(self)
        threading.Thread(target=self._work, name="foliot-lines", daemon=True).start()

    def put(self, line: str) -> None:
        """Queue a line and return at once."""
        if self._is_forked:
            self._write(line)
            return
        with self._changed:
            if self._size >= self._most:
                self._dropped += 1
                return
            self._lines.append(line)
            self._size += len(line)
            self._changed.notify_all()

    def flush(self, longest: float = _LONGEST_FLUSH) -> bool:
        """Wait until all lines are written, and return whether they are.

        Waits at most `longest` seconds in all, and only while the reader takes lines: a reader that has stopped once
        is not waited for again until it reads.
        """
        with self._changed:
            self._until = min(self._until, monotonic() + longest)
            while self._written != self._stuck_at and (left := self._until - monotonic()) > 0:
                before = self._written
                if self._changed.wait_for(self._is_done, min(self._line_timeout, left)):
                    return True
                self._stuck_at = before
            return self._is_done()

    def forked(self) -> None:
        """Write directly from now on: a forked child does not have the thread, and may end without a flush."""
        self._is_forked = True
        self._changed = threading.Condition()
        self._lines = []
        self._is_idle = True

    def _is_done(self) -> bool:
        return self._is_idle and not self._lines

    def _work(self) -> None:
        unwritten = 0
        while True:
            lines, dropped = self._take()
            if unwritten:
                unwritten = 0 if self._write(self._dropped_line(unwritten)) else unwritten
            unwritten += sum(not self._write(line) for line in lines)
            if dropped:
                # They came after these lines: nothing is queued behind a dropped line in the same batch.
                unwritten += 0 if self._write(self._dropped_line(dropped)) else dropped
            self._finish_batch()

    def _take(self) -> tuple[list[str], int]:
        with self._changed:
            self._changed.wait_for(lambda: self._lines)
            taken = self._lines, self._dropped
            self._lines, self._size, self._dropped, self._is_idle = [], 0, 0, False
            return taken

    def _finish_batch(self) -> None:
        with self._changed:
            self._is_idle, self._stuck_at, self._until = True, None, inf
            self._changed.notify_all()

    def _write(self, line: str) -> bool:
        """Write a whole line and return whether it worked. A full disk or a closed pipe may work for the next line."""
        text = f"\n{line}\n" if self._is_torn else f"{line}\n"
        data = whole = text.encode(self._encoding, "backslashreplace")
        try:
            while data:
                data = data[self._send(data) :]
        except OSError:
            self._is_torn |= len(data) < len(whole)
            return False
        self._is_torn = False
        self._written += 1
        return True

    def _send(self, data: bytes) -> int:
        while True:
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:
                # Another process that shares the descriptor may have made it non-blocking.
                poll = select.poll()
                poll.register(self._descriptor, select.POLLOUT)
                poll.poll()


_WRITERS: Final[WeakSet[LineWriter]] = WeakSet()


def _after_fork_in_child() -> None:
    for writer in _WRITERS:
        writer.forked()


os.register_at_fork(after_in_child=_after_fork_in_child)
