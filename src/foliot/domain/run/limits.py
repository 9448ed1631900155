"""How many runs may be under way at once, by key.

A limit is a key with a capacity. A run that names limits asks for a place on each of them when it is due and
starts only with all its places; it gives them back when the attempt ends. A run that a schedule made also holds its
schedule's overlap key, from the moment it is created until it is terminal: that is what "in flight" means.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from foliot.domain.ids import JobId, ScheduleUid

OVERLAP_PREFIX: Final = "tick:"
"""What the overlap keys of all schedules begin with, and no key of a limit."""


class Limit(NamedTuple):
    """At most `capacity` runs that name `key` are under way at any moment, on all workers together."""

    key: str
    capacity: int


def job_limit(job_id: JobId, capacity: int) -> Limit:
    return Limit(f"job:{job_id}", capacity)


def keyed_limit(key: str, capacity: int) -> Limit:
    return Limit(f"key:{key}", capacity)


def overlap_key(uid: ScheduleUid) -> str:
    return f"{OVERLAP_PREFIX}{uid}"


def is_overlap_key(key: str) -> bool:
    return key.startswith(OVERLAP_PREFIX)


class Waiter(NamedTuple):
    """A due run that waits for places, and all the keys it waits for."""

    run_id: str
    keys: tuple[str, ...]


def admit(waiters: Iterable[Waiter], room: dict[str, int]) -> list[str]:
    """Give places to waiters in their order: all places of a run or none. Uses up `room`.

    A waiter that lacks one place does not keep others from passing it: they wait for different things.
    """
    admitted = []
    for waiter in waiters:
        if all(room[key] > 0 for key in waiter.keys):
            for key in waiter.keys:
                room[key] -= 1
            admitted.append(waiter.run_id)
    return admitted
