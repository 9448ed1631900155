"""Lanes: which workers may execute a run, as one text beside its rank.

    default                   any worker of the queue `default`
    default+gpu+linux         a worker of this queue with both labels
    default+@worker+gpu       the same, and a remote one

A ready run waits in its lane, so a worker looks only at runs that it may have, however many others wait. The column
`queue` of the tables, and `Claim.queue`, contain the lane; what is shown has the queue alone (`split_lane`). No name
contains a plus sign.
"""

from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import lru_cache
from typing import Final

TREES_QUEUE: Final = "@trees"
"""The queue of runs that a coordinator opens. Users cannot create a queue with this name."""
UNROUTED: Final = "github:"
"""Labels that begin so choose no worker: they connect a job with a repository."""
_PLUS: Final = "+"
_AFTER_PLUS: Final = chr(ord(_PLUS) + 1)
"""Text that begins with NAME and a plus sign sorts before NAME and this character."""
_MARK: Final = "@"


class Executor(StrEnum):
    """Which workers may execute the runs of a job."""

    ANY = "any"
    LOCAL = "local"
    """Workers with access to the database."""
    WORKER = "worker"
    """Remote workers, which reach the server by HTTP."""


def lane_of(queue: str, executor: Executor, labels: Iterable[str]) -> str:
    """Return the lane of a run. Coordinators have no labels, so the runs that they open have none either."""
    if queue == TREES_QUEUE:
        return queue
    needed = sorted({label for label in labels if not label.startswith(UNROUTED)})
    if executor is not Executor.ANY:
        needed.insert(0, _MARK + executor)
    return _PLUS.join((queue, *needed))


@lru_cache(maxsize=4_096)
def split_lane(lane: str) -> tuple[str, tuple[str, ...]]:
    """Return the queue, and what a worker needs for it."""
    queue, *needed = lane.split(_PLUS)
    return queue, tuple(needed)


def offers_of(labels: Iterable[str], *, is_remote: bool) -> frozenset[str]:
    """Return what a worker has, in the words of lanes."""
    return frozenset((*labels, _MARK + (Executor.WORKER if is_remote else Executor.LOCAL)))


def missing_in(needed: Iterable[str], offers: Collection[str]) -> list[str]:
    """Return what a worker lacks of what a run needs."""
    return [one for one in needed if one not in offers]


def needs_in_words(needed: Iterable[str]) -> list[str]:
    """Return what a run needs of its worker, for people."""
    return [f"executor={one[1:]}" if one.startswith(_MARK) else one for one in needed]


def lanes_between(queue: str) -> tuple[str, str]:
    """Return the range of the lanes of a queue that need something, as text: from the first to before the second."""
    return queue + _PLUS, queue + _AFTER_PLUS
