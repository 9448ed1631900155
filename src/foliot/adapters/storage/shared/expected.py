"""Edits that were made for a certain revision of a definition."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from foliot.adapters.storage.shared.documents import as_stored_schedule
from foliot.domain.ids import ScheduleId
from foliot.domain.schedule.edit import is_same_rule
from foliot.domain.schedule.schedule import Schedule
from foliot.errors import ChangedMeanwhile
from foliot.ports.definitions import NewSchedule

Name = TypeVar("Name", bound=str)


def refuse_changed(kind: str, name: Name, revision: int, expected: Mapping[Name, int] | None) -> None:
    """Raise ChangedMeanwhile if an edit of a definition expects another revision. 0: it does not exist.

    Call it only for a definition that would change: repeating an edit that was saved is no conflict.
    """
    if expected is not None and expected.get(name, revision) != revision:
        raise ChangedMeanwhile(kind, name, revision)


def refuse_changed_schedules(
    known: Mapping[ScheduleId, Schedule], given: Iterable[NewSchedule], expected: Mapping[ScheduleId, int] | None
) -> None:
    """The same for schedules. `known`: those that are stored."""
    for _, schedule_id, spec in given if expected else ():
        stored = known.get(schedule_id)
        if stored is None:
            refuse_changed("schedule", schedule_id, 0, expected)
        elif not is_same_rule(stored, as_stored_schedule(spec)):
            refuse_changed("schedule", schedule_id, stored.revision.number, expected)
