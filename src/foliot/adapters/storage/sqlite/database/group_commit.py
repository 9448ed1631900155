"""Commits several operations in one transaction.

An operation that fails is rolled back alone; the others are saved. If the transaction itself fails (disk full, I/O
error), each operation is tried again in its own transaction: operations can be repeated.

Nothing is committed to a file that was deleted or replaced, because no process would ever read it.
"""

import asyncio
import os
import random
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import apsw
from msgspec import Struct
from msgspec.structs import replace

from foliot.adapters.storage.shared.audit_rows import audit_row
from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.event_items import Items
from foliot.adapters.storage.sqlite.database.connection import Connection
from foliot.adapters.storage.sqlite.database.errors import translate
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.domain.access.actor import SYSTEM, Actor
from foliot.domain.access.trail import ChangeRecord
from foliot.domain.events import EventKind
from foliot.domain.instant import Instant
from foliot.errors import StorageGone, Unstorable
from foliot.ports.clock import Clock
from foliot.ports.topic import Topic

T = TypeVar("T")
Item = TypeVar("Item")
Answer = TypeVar("Answer")
FaultPoint = Callable[[str], None]

_MAX_TRIES: Final = 4


class Transaction(Session):
    """Statements of one operation, with its clock, its actor, and the topics to signal after the commit (`rings`)."""

    def __init__(self, connection: apsw.Connection, clock: Clock, actor: Actor) -> None:
        super().__init__(connection)
        self.clock = clock
        self.actor = actor
        self.rings: set[Topic] = set()

    def now(self, at: Instant | None) -> Instant:
        return self.clock.now() if at is None else at

    def add_event(self, now: Instant, kind: EventKind, items: Items) -> None:
        """Save an event: one row for the whole batch, or no row if there are no items."""
        if items:
            self.run(SQL["add_events"], (now, kind.value, encode(items)))
            self.rings.add(Topic.EVENTS)

    def record(self, now: Instant, changes: Iterable[ChangeRecord]) -> None:
        """Save changes in the audit trail, with the actor of this transaction."""
        self.run_many(SQL["add_audit"], [audit_row(now, self.actor, change) for change in changes])

    def ring(self, *topics: Topic) -> None:
        """Signal these topics after the commit."""
        self.rings.update(topics)


WriteFunction = Callable[[Transaction], T]


@dataclass(slots=True)
class Bulk(Generic[Item, Answer]):
    """Work on items with one answer each. Adjacent work of several callers is executed together, with the first `do`,
    if it has the same name, actor and `alike`."""

    do: Callable[[Transaction, Sequence[Item]], list[Answer]]
    items: Sequence[Item]
    alike: Hashable
    """Whatever else `do` depends on, for example the time of the call."""

    def __call__(self, transaction: Transaction) -> list[Answer]:
        return self.do(transaction, self.items)


@dataclass(slots=True)
class Operation(Generic[T]):
    name: str
    work: WriteFunction[T]
    future: "asyncio.Future[T] | None" = None
    actor: Actor = SYSTEM

    @property
    def is_wanted(self) -> bool:
        return self.future is None or not self.future.cancelled()


class Outcome(Struct, frozen=True):
    operation: Operation[Any]
    result: Any = None
    error: BaseException | None = None
    rings: frozenset[Topic] | set[Topic] = frozenset()


class _RolledBack(Exception):
    """The transaction was rolled back, including what other operations did in it."""


class FileIdentity:
    """Checks that the open file is still the file at its path, as at the first check.

    A deleted file can be written to for as long as it is open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def check(self) -> None:
        """Raise `StorageGone` if the file was deleted or replaced by another one."""
        try:
            state = os.stat(self._path)  # noqa: PTH116 - called before every commit, and twice as fast
        except FileNotFoundError:
            raise _gone(self._path, "was deleted") from None
        except OSError:
            return  # the directory cannot be read, which means nothing for the file
        identity = state.st_dev, state.st_ino
        self._identity = self._identity or identity
        if identity != self._identity:
            raise _gone(self._path, "was replaced by another file")


def _gone(path: Path, what: str) -> StorageGone:
    return StorageGone(
        f"the database {path} {what} while it was in use",
        hint="Stop all processes that use it, restore the file at this path, and start them again.",
    )


@dataclass(slots=True)
class GroupCommit:
    """Executes operations in transactions. Independent of threads."""

    connection: Connection
    path: Path
    clock: Clock
    fault_point: FaultPoint
    handle: apsw.Connection = field(init=False)
    """The handle of the current transaction."""
    file_identity: FileIdentity = field(init=False)

    def __post_init__(self) -> None:
        self.file_identity = FileIdentity(self.path)

    def commit(self, operations: Sequence[Operation[Any]]) -> list[Outcome]:
        """Save what can be saved. Every operation gets an outcome; errors are those of `foliot.errors`."""
        try:
            with self.connection as self.handle:
                outcomes = self._together(operations)
        except (_RolledBack, apsw.Error) as lost:
            if len(operations) > 1:
                return [outcome for operation in operations for outcome in self.commit([operation])]
            outcomes = [Outcome(operations[0], error=lost.__cause__ or lost)]
        except BaseException as fault:  # raised by a fault point: it is not known whether the transaction was saved
            outcomes = [Outcome(operation, error=fault) for operation in operations]
        return [outcome if outcome.error is None else self._translated(outcome) for outcome in outcomes]

    def _together(self, operations: Sequence[Operation[Any]]) -> list[Outcome]:
        self._begin()
        try:
            outcomes = self._attempt_all(operations)
            names = sorted({operation.name for operation in operations})
            self._reach_fault_points(names, "before_commit")
            self.file_identity.check()
            self.handle.execute("COMMIT" if any(o.error is None for o in outcomes) else "ROLLBACK")
        except BaseException:
            self._roll_back()
            raise
        self._reach_fault_points(names, "after_commit")
        return outcomes

    def _begin(self) -> None:
        for tried in range(1, _MAX_TRIES + 1):
            try:
                self.handle.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                if tried == _MAX_TRIES:
                    raise
                time.sleep(random.random() * 0.01 * tried)  # noqa: S311 - jitter, no security
            else:
                return

    def _attempt_all(self, operations: Sequence[Operation[Any]]) -> list[Outcome]:
        if len(operations) == 1:
            return [self._attempt(operations[0], is_alone=True)]
        groups = [list(group) for _, group in groupby(operations, _alike)]
        return [outcome for group in groups for outcome in self._attempt_group(group)]

    def _attempt_group(self, group: Sequence[Operation[Any]]) -> list[Outcome]:
        """Execute the work of a group together or, if that fails, one operation after the other."""
        if len(group) > 1:
            joined = self._attempt(_joined(group), is_alone=False)
            if joined.error is None:
                return _split(joined, group)
        return [self._attempt(operation, is_alone=False) for operation in group]

    def _attempt(self, operation: Operation[Any], *, is_alone: bool) -> Outcome:
        transaction = Transaction(self.handle, self.clock, operation.actor)
        try:
            if is_alone:
                result = operation.work(transaction)
            else:
                with transaction.savepoint():
                    result = operation.work(transaction)
        except Exception as error:
            if not self.handle.in_transaction:
                raise _RolledBack from error
            return Outcome(operation, error=error)
        return Outcome(operation, result, rings=transaction.rings)

    def _roll_back(self) -> None:
        if self.handle.in_transaction:
            self.handle.execute("ROLLBACK")

    def _reach_fault_points(self, names: Iterable[str], point: str) -> None:
        for name in names:
            self.fault_point(f"{name}.{point}")

    def _translated(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome.error, apsw.Error):
            translated = translate(outcome.error, self.path)
            translated.__cause__ = outcome.error
            return replace(outcome, error=translated)
        if isinstance(outcome.error, UnicodeEncodeError | OverflowError):
            refused = Unstorable(outcome.error)
            refused.__cause__ = outcome.error
            return replace(outcome, error=refused)
        return outcome


def _alike(operation: Operation[Any]) -> Hashable:
    """Return a key that is equal for operations that can be executed together. Only `Bulk` can."""
    work = operation.work
    return (operation.name, work.alike, operation.actor) if isinstance(work, Bulk) else id(operation)


def _joined(group: Sequence[Operation[Any]]) -> Operation[Any]:
    works = [operation.work for operation in group if isinstance(operation.work, Bulk)]
    items = [item for work in works for item in work.items]
    return Operation(group[0].name, Bulk(works[0].do, items, works[0].alike), actor=group[0].actor)


def _split(joined: Outcome, group: Sequence[Operation[Any]]) -> list[Outcome]:
    """Return the outcome of each operation, with the answers for its own items."""
    answers = iter(joined.result)
    return [
        Outcome(operation, list(islice(answers, len(operation.work.items))), rings=joined.rings)
        for operation in group
        if isinstance(operation.work, Bulk)
    ]
