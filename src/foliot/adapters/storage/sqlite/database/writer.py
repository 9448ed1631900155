"""The writer of a process: all pending operations are saved in one transaction.

    verbs --submit--> [ waiting ] --take all--> BEGIN IMMEDIATE, op, op, op, COMMIT --> one call back into the loop

Without a thread (`inline`) an operation runs immediately in the caller's task: the same calls give the same trace.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import Any, Final, TypeVar

from foliot.adapters.storage.sqlite.database.bell import Bell
from foliot.adapters.storage.sqlite.database.group_commit import GroupCommit, Operation, Outcome, WriteFunction
from foliot.domain.access.actor import SYSTEM, Actor
from foliot.errors import StorageUnavailable
from foliot.ports.topic import Topic

T = TypeVar("T")

MAX_BATCH: Final = 1_000
_PAUSE: Final = 0.001
"""Seconds in which another process that waits for the lock asks for it at least once."""


class InlineWriter:
    """Commits each operation immediately, in the caller's task."""

    def __init__(self, group_commit: GroupCommit, bell: Bell) -> None:
        self._group_commit = group_commit
        self.file_identity = group_commit.file_identity
        self._bell = bell

    async def submit(self, name: str, work: WriteFunction[T], *, urgent: bool = False, actor: Actor = SYSTEM) -> T:
        [outcome] = self._group_commit.commit([Operation(name, work, actor=actor)])
        self._bell.ring_others(outcome.rings)
        self._bell.ring_here(outcome.rings)
        if outcome.error is not None:
            raise outcome.error
        # Other tasks run now, as they would while a thread is working.
        await asyncio.sleep(0)
        result: T = outcome.result
        return result

    async def close(self) -> None:
        self._group_commit.connection.close()


class ThreadWriter:
    """Commits in its own thread all operations that were submitted during the last commit."""

    def __init__(self, group_commit: GroupCommit, bell: Bell) -> None:
        self._group_commit = group_commit
        self.file_identity = group_commit.file_identity
        self._bell = bell
        self._waiting: deque[Operation[Any]] = deque()
        self._wake = threading.Event()
        self._is_closing = False
        self._thread = threading.Thread(target=self._serve, name="foliot-sqlite-writer", daemon=True)
        self._thread.start()

    async def submit(self, name: str, work: WriteFunction[T], *, urgent: bool = False, actor: Actor = SYSTEM) -> T:
        """Save `work` with the next transaction; `urgent` goes before all pending operations."""
        if self._is_closing:
            raise StorageUnavailable("the storage is closed", hint="Open it again.")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        operation = Operation(name, work, future, actor)
        if urgent:
            self._waiting.appendleft(operation)
        else:
            self._waiting.append(operation)
        if (
            not self._wake.is_set()
        ):  # checking is cheaper than setting, and the thread clears it before it takes the queue
            self._wake.set()
        return await future

    async def close(self) -> None:
        """Save pending operations, then end."""
        self._is_closing = True
        self._wake.set()
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    # -- in the thread

    def _serve(self) -> None:
        try:
            self._work()
        finally:
            self._is_closing = True
            self._group_commit.connection.close()
            closed = StorageUnavailable("the storage is closed", hint="Open it again.")
            self._answer([Outcome(operation, error=closed) for operation in self._take()])

    def _work(self) -> None:
        is_last = False
        while not is_last:
            self._wake.wait()
            self._wake.clear()
            # Read before the queue is emptied: operations submitted before closing are still saved.
            is_last = self._is_closing
            while batch := self._take():
                self._answer(self._commit(batch))
                if self._bell.take_lock_request():
                    time.sleep(_PAUSE)

    def _commit(self, batch: list[Operation[Any]]) -> list[Outcome]:
        """Commit the batch. Every operation gets an outcome: without one its caller would wait for ever."""
        try:
            return self._group_commit.commit(batch)
        except BaseException as error:  # for example out of memory
            return [Outcome(operation, error=error) for operation in batch]

    def _take(self) -> list[Operation[Any]]:
        batch: list[Operation[Any]] = []
        while self._waiting and len(batch) < MAX_BATCH:
            operation = self._waiting.popleft()
            if operation.is_wanted:
                batch.append(operation)
        return batch

    def _answer(self, outcomes: list[Outcome]) -> None:
        topics: set[Topic] = set().union(*(outcome.rings for outcome in outcomes))
        self._bell.ring_others(topics)
        by_loop: dict[asyncio.AbstractEventLoop, list[Outcome]] = {}
        for outcome in outcomes:
            if outcome.operation.future is not None:
                by_loop.setdefault(outcome.operation.future.get_loop(), []).append(outcome)
        for loop, answers in by_loop.items():
            # The event loop was closed during the write, so no caller is waiting.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._resolve, answers, topics)

    def _resolve(self, outcomes: Iterable[Outcome], topics: set[Topic]) -> None:
        self._bell.ring_here(topics)
        for outcome in outcomes:
            future = outcome.operation.future
            if future is None or future.done():
                continue
            if outcome.error is None:
                future.set_result(outcome.result)
            else:
                future.set_exception(outcome.error)


class ActingWriter:
    """Submits operations to a writer in the name of an actor."""

    def __init__(self, writer: InlineWriter | ThreadWriter, actor: Actor) -> None:
        self.writer = writer
        self._actor = actor
        self.file_identity = writer.file_identity

    def submit(self, name: str, work: WriteFunction[T], *, urgent: bool = False) -> Coroutine[Any, Any, T]:
        # No coroutine of its own: with thousands of calls in flight, the garbage collector would visit each of them.
        return self.writer.submit(name, work, urgent=urgent, actor=self._actor)

    async def close(self) -> None:
        await self.writer.close()


Writer = InlineWriter | ThreadWriter | ActingWriter
