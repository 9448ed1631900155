"""The counters of a fanout: what has been started, what is open, and how children have ended.

The open children are stored as ranges of indices. Children start in order, so the ranges are few: one for those that
wait, and one for each child that runs while its neighbours have ended.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from enum import StrEnum
from fractions import Fraction
from typing import Final

import msgspec
from msgspec import Struct

from foliot.domain.fanout.spec import RunOn
from foliot.domain.instant import Millis
from foliot.domain.run.run import Status

UNSUCCESSFUL: Final = frozenset({Status.FAILED, Status.TIMEOUT, Status.CANCELLED})
"""How children end that count against the tolerance, and that are run again by a rerun."""
SHOWN: Final = 10
"""How many failed and slowest items the summary names."""


class ReducerState(StrEnum):
    """Where the reducer of a fanout is."""

    PENDING = "pending"
    RUNNING = "running"
    ENDED = "ended"
    NOT_DUE = "not_due"


class Counts(Struct, kw_only=True, omit_defaults=True):
    """How many children have ended, and how."""

    succeeded: int = 0
    failed: int = 0
    timed_out: int = 0
    cancelled: int = 0
    skipped: int = 0

    @property
    def unsuccessful(self) -> int:
        return self.failed + self.timed_out + self.cancelled

    @property
    def ended(self) -> int:
        return self.succeeded + self.unsuccessful + self.skipped

    def add(self, status: Status) -> None:
        match status:
            case Status.SUCCESS | Status.PARTIAL:
                self.succeeded += 1
            case Status.TIMEOUT:
                self.timed_out += 1
            case Status.CANCELLED:
                self.cancelled += 1
            case Status.SKIPPED:
                self.skipped += 1
            case _:
                self.failed += 1


class Progress(Struct, kw_only=True, omit_defaults=True):
    """What a fanout remembers between two decisions. Stored with its tree."""

    next: int = 0
    """The first item without a child."""
    open: list[tuple[int, int]] = []
    """The children that have not ended, as ranges: first and last index."""
    counts: Counts = msgspec.field(default_factory=Counts)
    failures: list[int] = []
    """The first failed items."""
    slowest: list[tuple[Millis, int]] = []
    """The longest durations, ascending, with their items."""
    busy: Millis = Millis(0)
    """The duration of all ended children together."""
    reducer: ReducerState = ReducerState.PENDING

    @classmethod
    def read(cls, document: bytes | None) -> "Progress":
        return cls() if document is None else _DECODER.decode(document)

    def encode(self) -> bytes:
        return msgspec.json.encode(self)

    @property
    def open_count(self) -> int:
        return sum(last - first + 1 for first, last in self.open)

    def open_items(self) -> Iterator[int]:
        for first, last in self.open:
            yield from range(first, last + 1)

    def start(self, count: int) -> range:
        """Open the next items, and return them."""
        started = range(self.next, self.next + count)
        self.next += count
        if not count:
            return started
        if self.open and self.open[-1][1] == started.start - 1:
            self.open[-1] = (self.open[-1][0], started.stop - 1)
        else:
            self.open.append((started.start, started.stop - 1))
        return started

    def end(self, ended: Iterable[tuple[int, Status, Millis]]) -> None:
        """Count children that have ended. A child that is not open was counted before."""
        closed = {index: (status, duration) for index, status, duration in ended}
        indices = sorted(closed)
        left: list[tuple[int, int]] = []
        for first, last in self.open:
            begin = first
            for index in indices[bisect_left(indices, first) : bisect_right(indices, last)]:
                self._count(index, *closed[index])
                if begin < index:
                    left.append((begin, index - 1))
                begin = index + 1
            if begin <= last:
                left.append((begin, last))
        self.open = left

    def _count(self, index: int, status: Status, duration: Millis) -> None:
        self.counts.add(status)
        self.busy = Millis(self.busy + duration)
        if status not in _GOOD and len(self.failures) < SHOWN:
            self.failures.append(index)
        if len(self.slowest) < SHOWN or duration > self.slowest[0][0]:
            insort(self.slowest, (duration, index))
            del self.slowest[:-SHOWN]


_DECODER: Final = msgspec.json.Decoder(Progress)
_GOOD: Final = frozenset({Status.SUCCESS, Status.PARTIAL, Status.SKIPPED})


def status_of(counts: Counts, items: int, tolerance: Fraction) -> Status:
    """Return the status of a fanout whose children have all ended, before its reducer. Exact: 1 of 10 is within 0.1."""
    if counts.unsuccessful == 0:
        return Status.SUCCESS
    return Status.PARTIAL if counts.unsuccessful <= tolerance * items else Status.FAILED


def is_reducer_due(run_on: RunOn, status: Status, counts: Counts, items: int) -> bool:
    """Return whether the reducer runs after all children have ended. Without items only `always` runs it."""
    match run_on:
        case RunOn.ALWAYS:
            return True
        case RunOn.ANY_SUCCESS:
            return counts.succeeded > 0
        case RunOn.SUCCESS:
            return items > 0 and status is not Status.FAILED
