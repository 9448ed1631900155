"""The kinds of rules that plan the moments of a schedule, with one interface.

Planned moments are whole seconds. All results are exact. The cost of `count` grows with the days it spans, not with the
number of moments.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Protocol

from foliot.domain.cron import Cron
from foliot.domain.instant import SECOND, Instant, Millis

_MAX_CACHED: Final = 64


class Rule(Protocol):
    """An ordered set of planned moments."""

    def next(self, after: Instant) -> Instant | None:
        """Return the first planned moment later than `after`, or None."""
        ...

    def previous(self, before: Instant) -> Instant | None:
        """Return the last planned moment earlier than `before`, or None."""
        ...

    def count(self, first: Instant, last: Instant) -> int:
        """Return the number of planned moments in [first, last]."""
        ...

    def between(self, first: Instant, last: Instant, limit: int) -> list[Instant]:
        """Return the first `limit` planned moments in [first, last]."""
        ...


class Never:
    """No moments: the schedule is triggered manually, or fires after a boot."""

    def next(self, after: Instant) -> Instant | None:
        return None

    def previous(self, before: Instant) -> Instant | None:
        return None

    def count(self, first: Instant, last: Instant) -> int:
        return 0

    def between(self, first: Instant, last: Instant, limit: int) -> list[Instant]:
        return []


class Listed:
    """The moments of a list, in order: the boots of a host."""

    def __init__(self, moments: Sequence[Instant]) -> None:
        self._moments = moments

    def next(self, after: Instant) -> Instant | None:
        index = bisect_right(self._moments, after)
        return self._moments[index] if index < len(self._moments) else None

    def previous(self, before: Instant) -> Instant | None:
        index = bisect_left(self._moments, before)
        return self._moments[index - 1] if index else None

    def count(self, first: Instant, last: Instant) -> int:
        return max(0, bisect_right(self._moments, last) - bisect_left(self._moments, first))

    def between(self, first: Instant, last: Instant, limit: int) -> list[Instant]:
        begin = bisect_left(self._moments, first)
        return list(self._moments[begin : min(begin + limit, bisect_right(self._moments, last))])


class Once:
    """One moment."""

    def __init__(self, at: Instant) -> None:
        self._at = at

    def next(self, after: Instant) -> Instant | None:
        return self._at if self._at > after else None

    def previous(self, before: Instant) -> Instant | None:
        return self._at if self._at < before else None

    def count(self, first: Instant, last: Instant) -> int:
        return int(first <= self._at <= last)

    def between(self, first: Instant, last: Instant, limit: int) -> list[Instant]:
        return [self._at] if limit and self.count(first, last) else []


class Every:
    """The moments `anchor + k * step`, k = 0, 1, 2 ... A late fire does not shift the following ones."""

    def __init__(self, step: Millis, anchor: Instant) -> None:
        self._step = step
        self._anchor = anchor

    def next(self, after: Instant) -> Instant | None:
        return self._at((after - self._anchor) // self._step + 1) if after >= self._anchor else self._anchor

    def previous(self, before: Instant) -> Instant | None:
        index = (before - self._anchor - 1) // self._step
        return self._at(index) if index >= 0 else None

    def count(self, first: Instant, last: Instant) -> int:
        return max(0, self._index_until(last) - self._index_until(Instant(first - 1)))

    def between(self, first: Instant, last: Instant, limit: int) -> list[Instant]:
        begin = self._index_until(Instant(first - 1))
        end = min(self._index_until(last), begin + limit)
        return [self._at(index) for index in range(begin, end)]

    def _at(self, index: int) -> Instant:
        return Instant(self._anchor + index * self._step)

    def _index_until(self, moment: Instant) -> int:
        """Return the number of moments at or before `moment`."""
        return max(0, (moment - self._anchor) // self._step + 1)


class Calendar:
    """A cron expression in its zone. Caches its last results, since schedules with one expression share the object."""

    def __init__(self, cron: Cron) -> None:
        self._cron = cron
        self._cache: dict[int, Instant | None] = {}

    def next(self, after: Instant) -> Instant | None:
        second = after // SECOND
        if second not in self._cache:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            epoch = self._cron.next_epoch(second)
            self._cache[second] = None if epoch is None else Instant(epoch * SECOND)
        return self._cache[second]

    def previous(self, before: Instant) -> Instant | None:
        epoch = self._cron.previous_epoch(-(-before // SECOND))
        return None if epoch is None else Instant(epoch * SECOND)

    def count(self, first: Instant, last: Instant) -> int:
        return self._cron.count_epochs(-(-first // SECOND), last // SECOND)

    def between(self, first: Instant, last: Instant, limit: int) -> list[Instant]:
        moments: list[Instant] = []
        moment = self.next(Instant(first - 1))
        while moment is not None and moment <= last and len(moments) < limit:
            moments.append(moment)
            moment = self.next(moment)
        return moments


NEVER: Final = Never()


@lru_cache(maxsize=8_192)
def calendar(cron: Cron) -> Calendar:
    """Return the rule of a compiled expression. Equal expressions share one rule."""
    return Calendar(cron)
