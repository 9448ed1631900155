"""Lines written by a thread of their own: whoever has something to say never waits for those who read it.

    put --> lines, bounded --> thread --> descriptor       full, or nothing takes them: dropped, counted, told later

A pipe that nobody reads, or a terminal on which somebody pressed Ctrl-S, makes the thread wait, and nobody else.
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
"""Characters that wait to be written. Of further lines only the number is kept."""
_PATIENCE: Final = 2.0
"""Seconds for which the end of a process waits for one more of its last lines to be taken."""
_LONGEST_FLUSH: Final = 10.0


class LineWriter:
    """Writes lines in the order in which they come, one by one: what is short stays whole among other writers'.

    It writes to the descriptor, not to a stream: a thread that waits in a stream holds its lock, and the interpreter
    wants that when it ends.
    """

    def __init__(
        self,
        descriptor: int,
        confess: Callable[[int], str],
        *,
        encoding: str = "utf-8",
        most: int = _MOST,
        patience: float = _PATIENCE,
    ) -> None:
        self._descriptor = descriptor
        self._confess = confess
        self._encoding = encoding
        self._most = most
        self._patience = patience
        self._lines: list[str] = []
        self._size = 0
        self._dropped = 0
        self._written = 0
        self._is_idle = True
        self._stuck_at: int | None = None
        """How many lines were written when one more was waited for in vain."""
        self._until = inf
        """When nobody waits any longer for all of them to be written."""
        self._is_torn = False
        self._is_forked = False
        self._news = threading.Condition()
        _WRITERS.add(self)
        threading.Thread(target=self._work, name="foliot-lines", daemon=True).start()

    def put(self, line: str) -> None:
        """Have a line written. It returns at once."""
        if self._is_forked:
            self._write(line)
            return
        with self._news:
            if self._size >= self._most:
                self._dropped += 1
                return
            self._lines.append(line)
            self._size += len(line)
            self._news.notify_all()

    def flush(self, longest: float = _LONGEST_FLUSH) -> bool:
        """Whether all is written. It is waited for as long as lines are taken, for so many seconds at most; and not
        again for who took nothing meanwhile, or was waited for so long and has not taken all."""
        with self._news:
            self._until = min(self._until, monotonic() + longest)
            while self._written != self._stuck_at and (left := self._until - monotonic()) > 0:
                before = self._written
                if self._news.wait_for(self._is_done, min(self._patience, left)):
                    return True
                self._stuck_at = before
            return self._is_done()

    def forked(self) -> None:
        """Be the writer of a child that has no thread for it, and may end without another word: it writes itself."""
        self._is_forked = True
        self._news = threading.Condition()
        self._lines = []
        self._is_idle = True

    def _is_done(self) -> bool:
        return self._is_idle and not self._lines

    def _work(self) -> None:
        unwritten = 0
        while True:
            lines, dropped = self._take()
            if unwritten:
                unwritten = 0 if self._write(self._confess(unwritten)) else unwritten
            unwritten += sum(not self._write(line) for line in lines)
            if dropped:
                # They came after all of these: nothing is put behind a line that was dropped.
                unwritten += 0 if self._write(self._confess(dropped)) else dropped
            self._rest()

    def _take(self) -> tuple[list[str], int]:
        with self._news:
            self._news.wait_for(lambda: self._lines)
            taken = self._lines, self._dropped
            self._lines, self._size, self._dropped, self._is_idle = [], 0, 0, False
            return taken

    def _rest(self) -> None:
        with self._news:
            self._is_idle, self._stuck_at, self._until = True, None, inf
            self._news.notify_all()

    def _write(self, line: str) -> bool:
        """Write it whole. A disk that is full or a reader who has gone may be back for the next one."""
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
                # Whoever shares a terminal or a pipe may have made it so for all.
                poll = select.poll()
                poll.register(self._descriptor, select.POLLOUT)
                poll.poll()


_WRITERS: Final[WeakSet[LineWriter]] = WeakSet()


def _after_fork_in_child() -> None:
    for writer in _WRITERS:
        writer.forked()


os.register_at_fork(after_in_child=_after_fork_in_child)
