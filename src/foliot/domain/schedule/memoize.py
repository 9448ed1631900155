"""Memoization of functions of a schedule whose result often depends on the specification alone.

Ten thousand schedules are often created with one specification and ten thousand ids. The result is then computed once,
not once for each id.
"""

from collections.abc import Callable, Iterable
from typing import Final, Generic, TypeVar

from foliot.domain.ids import ScheduleId
from foliot.domain.schedule.schedule import ScheduleSpec

T = TypeVar("T")

ScheduleFunction = Callable[[ScheduleSpec, ScheduleId], T]


def memoize_by_spec(compute: ScheduleFunction[T], specs: Iterable[ScheduleSpec]) -> ScheduleFunction[T]:
    """Return `compute`, memoized if any of `specs` occurs more than once.

    Use it within one call only: the results may depend on the current time.
    """
    given = [id(spec) for spec in specs]
    return compute if len(set(given)) == len(given) else _Memoized(compute)


class _Memoized(Generic[T]):
    """Calls the function once for each specification, or once for each schedule if the id affects the result."""

    def __init__(self, compute: ScheduleFunction[T]) -> None:
        self._compute: Final = compute
        # The entry holds the specification too: the id() of an object may be reused once the object is freed.
        self._results: dict[int, tuple[ScheduleSpec, T]] = {}

    def __call__(self, spec: ScheduleSpec, schedule_id: ScheduleId) -> T:
        known = self._results.get(id(spec))
        if known is not None:
            return known[1]
        result = self._compute(spec, schedule_id)
        if not spec.depends_on_id:
            self._results[id(spec)] = spec, result
        return result
