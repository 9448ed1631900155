"""The smallest writer thread that commits in groups: the ceilings' only way to SQLite."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

import apsw

T = TypeVar("T")
_Errand = tuple[Callable[[apsw.Connection], Any], "asyncio.Future[Any]"]


def connect(place: str, synchronous: str) -> apsw.Connection:
    db = apsw.Connection(place)
    db.set_busy_timeout(5_000)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA synchronous = {synchronous}")
    return db


class Writer:
    """Everything that waits goes into one transaction and is answered with one call into the loop."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._errands: SimpleQueue[_Errand] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._work, daemon=True).start()

    def do(self, errand: Callable[[apsw.Connection], T]) -> "asyncio.Future[T]":
        answer: asyncio.Future[T] = self._loop.create_future()
        self._errands.put((errand, answer))
        return answer

    def _work(self) -> None:
        while True:
            group = [self._errands.get()]
            while not self._errands.empty() and len(group) < 1_000:
                group.append(self._errands.get())
            self._db.execute("BEGIN IMMEDIATE")
            answers = [(future, errand(self._db)) for errand, future in group]
            self._db.execute("COMMIT")
            self._loop.call_soon_threadsafe(_give, answers)


def _give(answers: list[tuple["asyncio.Future[Any]", Any]]) -> None:
    for future, answer in answers:
        if not future.done():
            future.set_result(answer)
