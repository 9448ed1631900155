"""Questions about many schedules at once, where one answer does for all that share a specification.

Who adds ten thousand schedules often writes one specification and ten thousand names. What follows from the
specification alone is found out once then, and not for each name.
"""

from collections.abc import Callable, Iterable
from typing import Final, Generic, TypeVar

from foliot.domain.ids import ScheduleId
from foliot.domain.schedule.schedule import ScheduleSpec

T = TypeVar("T")

Question = Callable[[ScheduleSpec, ScheduleId], T]


def memoize_by_spec(ask: Question[T], specs: Iterable[ScheduleSpec]) -> Question[T]:
    """The same question for schedules with these specifications, asked as seldom as can be.

    For use within one call: the answers may depend on its moment.
    """
    given = [id(spec) for spec in specs]
    return ask if len(set(given)) == len(given) else _Shared(ask)


class _Shared(Generic[T]):
    """Asks once for each specification; for each schedule where the name matters."""

    def __init__(self, ask: Question[T]) -> None:
        self._ask: Final = ask
        # The specification is kept beside its answer: an identity is only its own while it lives.
        self._answers: dict[int, tuple[ScheduleSpec, T]] = {}

    def __call__(self, spec: ScheduleSpec, schedule_id: ScheduleId) -> T:
        known = self._answers.get(id(spec))
        if known is not None:
            return known[1]
        answer = self._ask(spec, schedule_id)
        if not spec.is_drawn:
            self._answers[id(spec)] = spec, answer
        return answer
