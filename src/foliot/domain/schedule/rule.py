"""When a schedule fires: the four kinds of rule behind one face.

Planned moments are whole seconds. All calls are exact, and `count` costs no more than the days it spans.
"""

from functools import lru_cache
from typing import Final, Protocol

from foliot.domain.cron import Cron
from foliot.domain.instant import SECOND, Instant, Millis

_REMEMBERED: Final = 64


class Rule(Protocol):
    """A set of planned moments, in order."""

    def next(self, after: Instant) -> Instant | None:
        """The first planned moment later than `after`."""
        ...

    def previous(self, before: Instant) -> Instant | None:
        """The last planned moment earlier than `before`."""
        ...

    def count(self, first: Instant, last: Instant) -> int:
        """How many planned moments lie in [first, last]."""
        ...

    def between(self, first: Instant, last: Instant, limit: int) -> list[Instant]:
        """The planned moments in [first, last], at most `limit` of them, earliest first."""
        ...


class Never:
    """A schedule that only people fire."""

    def next(self, after: Instant) -> Instant | None:
        return None

    def previous(self, before: Instant) -> Instant | None:
        return None

    def count(self, first: Instant, last: Instant) -> int:
        return 0

    def between(self, first: Instant, last: Instant, limit: int) -> list[Instant]:
        return []


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
    """A grid of moments `anchor + k * step`, k = 0, 1, 2 ...: it never drifts, however late a fire is."""

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
        """How many moments of the grid lie at or before `moment`."""
        return max(0, (moment - self._anchor) // self._step + 1)


class Calendar:
    """A cron expression in its zone. Remembers its last answers: schedules that say the same ask the same."""

    def __init__(self, cron: Cron) -> None:
        self._cron = cron
        self._answers: dict[int, Instant | None] = {}

    def next(self, after: Instant) -> Instant | None:
        second = after // SECOND
        if second not in self._answers:
            if len(self._answers) >= _REMEMBERED:
                self._answers.clear()
            epoch = self._cron.next_epoch(second)
            self._answers[second] = None if epoch is None else Instant(epoch * SECOND)
        return self._answers[second]

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
    """The rule of a compiled expression, shared as the expression is."""
    return Calendar(cron)
