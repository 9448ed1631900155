"""How new schedules begin, whatever the database."""

from collections.abc import Iterable

from foliot.adapters.storage.documents import as_stored_schedule
from foliot.domain import edit
from foliot.domain.edit import Start
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.schedule import ScheduleSpec
from foliot.domain.sharing import Question, once_each
from foliot.ports.definitions import NewSchedule


def starts(new: Iterable[NewSchedule], now: Instant) -> Question[Start]:
    """The start of any of these, by its specification as it will be read back."""

    def start(spec: ScheduleSpec, schedule_id: ScheduleId) -> Start:
        return edit.start(as_stored_schedule(spec), schedule_id, now)

    return once_each(start, (one.spec for one in new))
