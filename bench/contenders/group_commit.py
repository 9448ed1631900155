"""The smallest writer thread that commits in groups, used by the ceilings on SQLite."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

import apsw

T = TypeVar("T")
_Work = tuple[Callable[[apsw.Connection], Any], "asyncio.Future[Any]"]


def connect(place: str, synchronous: str) -> apsw.Connection:
    db = apsw.Connection(place)
    db.set_busy_timeout(5_000)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA synchronous = {synchronous}")
    return db


class Writer:
    """Commits all pending work in one transaction, and answers it with one call into the loop."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._pending: SimpleQueue[_Work] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._work, daemon=True).start()

    def do(self, work: Callable[[apsw.Connection], T]) -> "asyncio.Future[T]":
        answer: asyncio.Future[T] = self._loop.create_future()
        self._pending.put((work, answer))
        return answer

    def _work(self) -> None:
        while True:
            group = [self._pending.get()]
            while not self._pending.empty() and len(group) < 1_000:
                group.append(self._pending.get())
            self._db.execute("BEGIN IMMEDIATE")
            answers = [(future, work(self._db)) for work, future in group]
            self._db.execute("COMMIT")
            self._loop.call_soon_threadsafe(_resolve, answers)


def _resolve(answers: list[tuple["asyncio.Future[Any]", Any]]) -> None:
    for future, answer in answers:
        if not future.done():
            future.set_result(answer)
