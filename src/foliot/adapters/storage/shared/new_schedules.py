"""Computes the initial state of new schedules."""

from collections.abc import Iterable

from foliot.adapters.storage.shared.documents import as_stored_schedule
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.schedule import edit
from foliot.domain.schedule.edit import InitialState
from foliot.domain.schedule.memoize import ScheduleFunction, memoize_by_spec
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.ports.definitions import NewSchedule


def initial_states(new: Iterable[NewSchedule], now: Instant) -> ScheduleFunction[InitialState]:
    """Return a function that computes the initial state of each of these, from the specification as it is read back."""

    def start(spec: ScheduleSpec, schedule_id: ScheduleId) -> InitialState:
        return edit.initial_state(as_stored_schedule(spec), schedule_id, now)

    return memoize_by_spec(start, (one.spec for one in new))
