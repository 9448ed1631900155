"""Reads the arguments of calls that create or change schedules."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.ids import ScheduleId
from foliot.domain.input.keywords import as_written, read_keywords
from foliot.domain.input.schedule import schedule_of
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.vocabulary.places import UPSERT_CALL
from foliot.errors import InvalidInput, InvalidSchedule, shown

MAX_BATCH: Final = 10_000
_PAUSE: Final = ("paused", "enabled")


class ScheduleBatch(NamedTuple):
    """Schedules of one call. Equal specifications are one object, so that each is checked and compiled once."""

    specs: Mapping[ScheduleId, ScheduleSpec]
    paused: Sequence[ScheduleId]
    resumed: Sequence[ScheduleId]


class _Read(NamedTuple):
    spec: ScheduleSpec
    paused: bool | None


def read_batch(schedules: Mapping[str, Mapping[str, Any]], defaults: Mapping[str, Any]) -> ScheduleBatch:
    """Read the options of many schedules. An error names the schedule."""
    _check_batch(schedules)
    read: dict[ScheduleId, _Read] = {}
    known: dict[Hashable, _Read] = {}
    for schedule_id, options in schedules.items():
        try:
            check_id(schedule_id, is_needed=True)
            key = _key(options)
            one = known.get(key) or _read(options, defaults)
        except InvalidInput as error:
            error.add_context(f"schedule {shown(schedule_id)}")
            raise
        read[ScheduleId(schedule_id)] = one
        if key is not None:
            known[key] = one
    return ScheduleBatch(
        {name: one.spec for name, one in read.items()},
        [name for name, one in read.items() if one.paused],
        [name for name, one in read.items() if one.paused is False],
    )


def _key(options: object) -> Hashable | None:
    """Return a value that is equal for equal options. None: they contain a list or a dict."""
    if type(options) is not dict and not isinstance(options, Mapping):
        raise InvalidSchedule(
            f"its options must be a dict, not {shown(options)}", hint="Give them as for app.schedules.upsert."
        )
    # True is equal to 1, and is not the same option.
    key = (*options.items(), *map(type, options.values()))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _read(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> _Read:
    paused = read_pause(paused=options.get("paused"), enabled=options.get("enabled"))
    given = {name: value for name, value in options.items() if name not in _PAUSE}
    read = read_keywords(UPSERT_CALL, given, InvalidSchedule)
    with as_written(read.written):
        return _Read(schedule_of({**defaults, **read}, read.written, source="api"), paused)


def _check_batch(schedules: object) -> None:
    if not isinstance(schedules, Mapping):
        raise InvalidSchedule(
            f"schedules must be a dict, not {shown(schedules)}",
            hint="Give the options of each schedule by its id: {'hourly': {'job_id': 'report', 'cron': '@hourly'}}.",
            field="schedules",
        )
    if len(schedules) > MAX_BATCH:
        raise InvalidSchedule(
            f"at most {MAX_BATCH} schedules can be stored with one call, not {len(schedules)}",
            hint="Divide them into several calls.",
            field="schedules",
        )


def check_id(schedule_id: object, *, is_needed: bool = False) -> None:
    """Refuse an id of another type, which an untyped caller may give. If it is not needed, it may be None."""
    if not isinstance(schedule_id, str) and (is_needed or schedule_id is not None):
        raise InvalidSchedule(
            f"schedule_id must be text, not {type(schedule_id).__name__}",
            hint="Write it in quotes." if is_needed else "Write it in quotes, or leave it out to get a generated one.",
            field="schedule_id",
        )


def read_pause(**flags: object) -> bool | None:
    """Return whether to pause or to resume. None: neither. `paused` and `enabled` are the same option."""
    given = {name: value for name, value in flags.items() if value is not None}
    for name, value in given.items():
        if not isinstance(value, bool):
            raise InvalidSchedule(
                f"{name} must be true or false, not {shown(value)}",
                hint="Leave it out to keep it as it is.",
                field=name,
            )
    if len(given) > 1:
        both = " and ".join(given)
        raise InvalidSchedule(f"{both} are the same option", hint="Keep one of them.", field="enabled")
    return next((value is (name == "paused") for name, value in given.items()), None)
