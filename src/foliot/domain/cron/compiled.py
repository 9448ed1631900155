"""What compiling an expression gives: an object that knows the moments at which it fires."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from foliot.domain.cron.moments import ceil, floor
from foliot.domain.cron.zones import Zone
from foliot.errors import InvalidInput


class Recipe(NamedTuple):
    """What an expression was compiled from, and by what."""

    compile: Callable[..., "Cron"]
    arguments: tuple[Any, ...]
    """Expression and zone, and then all that can change a fire."""


class Cron(ABC):
    """A compiled expression: small, changed by no question, safe to share between threads.

    People ask with aware datetimes, programs with whole epoch seconds: the answers are the same moments. Two are equal
    when they were compiled from the same; a copy, also a pickled one, is compiled again.
    """

    __slots__ = ("_hash", "_recipe", "expression", "warnings", "zone")

    _recipe: Recipe
    _hash: int
    """Rules are looked up by their expression, one for each schedule that is due."""
    is_manual: bool = False
    """Whether it never fires by itself: `@triggered`, `@manual` and `@reboot`."""
    is_reboot: bool = False
    """Whether it is `@reboot`, for whoever wants to start it when a machine comes up."""

    def __init__(self, expression: str, zone: Zone, warnings: tuple[str, ...] = ()) -> None:
        self.expression = expression
        self.zone = zone
        self.warnings = warnings

    @property
    def timezone(self) -> str:
        return self.zone.name

    def next(self, after: datetime) -> datetime | None:
        """The first fire later than `after`, in the zone of the expression; None when there is none."""
        shown, second = self.zone.shown
        fire = self.next_epoch(second if after is shown else floor(after))
        return None if fire is None else self.zone.moment(fire)

    def previous(self, before: datetime) -> datetime | None:
        """The last fire earlier than `before`, in the zone of the expression; None when there is none."""
        fire = self.previous_epoch(ceil(before))
        return None if fire is None else self.zone.moment(fire)

    def between(self, start: datetime, end: datetime, limit: int) -> list[datetime]:
        """The first `limit` fires from `start` to `end`, both included."""
        _check_limit(limit)
        return [self.zone.moment(fire) for fire in self.epochs_between(ceil(start), floor(end), limit)]

    def epochs_between(self, start: int, end: int, limit: int) -> list[int]:
        """The first `limit` fires from `start` to `end`, both included."""
        fires: list[int] = []
        fire = self.next_epoch(start - 1)
        while fire is not None and fire <= end and len(fires) < limit:
            fires.append(fire)
            fire = self.next_epoch(fire)
        return fires

    @abstractmethod
    def next_epoch(self, after: int) -> int | None:
        """The first fire later than `after`. None when the year 9999 ends before it comes."""

    @abstractmethod
    def previous_epoch(self, before: int) -> int | None:
        """The last fire earlier than `before`. None when there is none."""

    @abstractmethod
    def count_epochs(self, start: int, end: int) -> int:
        """How many fires lie from `start` to `end`, both included. The number of fires costs nothing."""

    @abstractmethod
    def describe(self) -> str:
        """The expression in words, made from what was compiled and not from the text."""

    def __repr__(self) -> str:
        return f"<Cron {self.expression!a} in {self.timezone}>"

    def remember(self, recipe: Recipe) -> None:
        """Keep what it was compiled from. Whoever compiles it says so, before anybody else has it."""
        self._recipe = recipe
        self._hash = hash(self._compiled_from())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cron):
            return NotImplemented
        return self is other or self._compiled_from() == other._compiled_from()

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return self._recipe

    def _compiled_from(self) -> tuple[Any, ...]:
        """The zone by its name: it does not matter where that was said."""
        expression, _, *rest = self._recipe.arguments
        return (expression, self.timezone, *rest)


class Manual(Cron):
    __slots__ = ()

    is_manual = True

    def next_epoch(self, after: int) -> None:
        return None

    def previous_epoch(self, before: int) -> None:
        return None

    def count_epochs(self, start: int, end: int) -> int:
        return 0

    def describe(self) -> str:
        return "only when triggered"


class Reboot(Manual):
    __slots__ = ()

    is_reboot = True

    def describe(self) -> str:
        return "at a reboot, when triggered"


def _check_limit(limit: object) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise InvalidInput(
            f"limit must be a whole number from 0 on, not {limit!r:.32}",
            hint="Say how many fires you want at most.",
            field="limit",
        )
