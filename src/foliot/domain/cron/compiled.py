"""Compiled expressions: objects that compute the moments at which they fire."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from foliot.domain.cron.moments import ceil, floor
from foliot.domain.cron.zones import Zone
from foliot.errors import InvalidInput


class Recipe(NamedTuple):
    """The function and the arguments that compile an expression again."""

    compile: Callable[..., "Cron"]
    arguments: tuple[Any, ...]
    """Expression and zone, and then all other arguments that affect the fires."""


class Cron(ABC):
    """A compiled expression: small, and safe to share between threads.

    There are methods for aware datetimes and for whole epoch seconds; both return the same moments. Two objects are
    equal if they were compiled from equal arguments. A copy, also by pickle, is compiled again.
    """

    __slots__ = ("_hash", "_recipe", "expression", "warnings", "zone")

    _recipe: Recipe
    _hash: int
    """Cached, because expressions are keys of caches that are read for each due schedule."""
    expression: str
    """The text it was compiled from."""
    zone: Zone
    """Its time zone."""
    warnings: tuple[str, ...]
    """What is valid but probably not meant."""
    is_manual: bool = False
    """Whether it has no planned times: `@triggered`, `@manual` and `@reboot`."""
    is_reboot: bool = False
    """Whether it is `@reboot`: a schedule with it fires once after each boot of the host."""

    def __init__(self, expression: str, zone: Zone, warnings: tuple[str, ...] = ()) -> None:
        self.expression = expression
        self.zone = zone
        self.warnings = warnings

    @property
    def timezone(self) -> str:
        """The name of its time zone."""
        return self.zone.name

    def next(self, after: datetime) -> datetime | None:
        """Return the first fire later than `after`, in the zone of the expression, or None."""
        shown, second = self.zone.shown
        fire = self.next_epoch(second if after is shown else floor(after))
        return None if fire is None else self.zone.moment(fire)

    def previous(self, before: datetime) -> datetime | None:
        """Return the last fire earlier than `before`, in the zone of the expression, or None."""
        fire = self.previous_epoch(ceil(before))
        return None if fire is None else self.zone.moment(fire)

    def between(self, start: datetime, end: datetime, limit: int) -> list[datetime]:
        """Return the first `limit` fires from `start` to `end`, both included, as datetimes."""
        _check_limit(limit)
        return [self.zone.moment(fire) for fire in self.epochs_between(ceil(start), floor(end), limit)]

    def epochs_between(self, start: int, end: int, limit: int) -> list[int]:
        """Return the first `limit` fires from `start` to `end`, both included, as epoch seconds."""
        fires: list[int] = []
        fire = self.next_epoch(start - 1)
        while fire is not None and fire <= end and len(fires) < limit:
            fires.append(fire)
            fire = self.next_epoch(fire)
        return fires

    @abstractmethod
    def next_epoch(self, after: int) -> int | None:
        """Return the first fire later than `after`, as epoch seconds, or None if there is none before year 10000."""

    @abstractmethod
    def previous_epoch(self, before: int) -> int | None:
        """Return the last fire earlier than `before`, as epoch seconds, or None."""

    @abstractmethod
    def count_epochs(self, start: int, end: int) -> int:
        """Return the number of fires from `start` to `end`, both included, without computing each of them."""

    @abstractmethod
    def describe(self) -> str:
        """Return the expression in words."""

    def __repr__(self) -> str:
        return f"<Cron {self.expression!a} in {self.timezone}>"

    def remember(self, recipe: Recipe) -> None:
        """Store what it was compiled from. The compiler calls this before it returns the object."""
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
        """Return the arguments, with the name of the zone, which may be given as an argument or in the expression."""
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
        return "manual"


class Reboot(Manual):
    __slots__ = ()

    is_reboot = True

    def describe(self) -> str:
        return "once after each boot of the host"


def _check_limit(limit: object) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise InvalidInput(
            f"limit must be a whole number from 0 on, not {limit!r:.32}",
            hint="Give the maximum number of fires.",
            field="limit",
        )
