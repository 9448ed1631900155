"""Concurrency limits: how many runs with the same key may run at the same time.

A limit is a key with a capacity. A run needs a place in each of its limits to start, and releases all places when the
attempt ends. A run created by a schedule also holds the schedule's overlap key, from its creation until it is
terminal: such runs are "in flight".
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from foliot.domain.ids import JobId, RunId, ScheduleUid

OVERLAP_PREFIX: Final = "tick:"
"""The prefix of all overlap keys. No key of a limit begins with it."""


class Limit(NamedTuple):
    """At most `capacity` runs with this key run at the same time, on all workers together."""

    key: str
    capacity: int


def job_limit(job_id: JobId, capacity: int) -> Limit:
    return Limit(f"job:{job_id}", capacity)


def keyed_limit(key: str, capacity: int) -> Limit:
    return Limit(f"key:{key}", capacity)


def shared_limit(run_id: RunId, capacity: int) -> Limit:
    """Return the limit that all children of one run share."""
    return Limit(f"children:{run_id}", capacity)


def overlap_key(uid: ScheduleUid) -> str:
    return f"{OVERLAP_PREFIX}{uid}"


def is_overlap_key(key: str) -> bool:
    return key.startswith(OVERLAP_PREFIX)


class Waiter(NamedTuple):
    """A due run that waits for places, and the keys of all its limits."""

    run_id: str
    keys: tuple[str, ...]


def admit(waiters: Iterable[Waiter], room: dict[str, int]) -> list[str]:
    """Return the runs that get all their places, in the order of the waiters. Reduces `room` by the places taken.

    A run that lacks a place does not block the runs after it, since these may need other limits.
    """
    admitted = []
    for waiter in waiters:
        if all(room[key] > 0 for key in waiter.keys):
            for key in waiter.keys:
                room[key] -= 1
            admitted.append(waiter.run_id)
    return admitted
