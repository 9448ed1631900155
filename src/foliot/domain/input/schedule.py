"""Converts the options of a schedule to a domain value."""

from collections.abc import Mapping
from typing import Any, Final

from foliot.domain import cron
from foliot.domain.input.job import option_overlay
from foliot.domain.instant import SECOND, ceil_second
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from foliot.domain.vocabulary.schedule import ENABLED, PAYLOAD, POLICY, RULE, TARGET
from foliot.errors import InvalidSchedule

_PLAIN: Final = (*TARGET, *POLICY, PAYLOAD, ENABLED)
"""Options that are attributes of a schedule. The rule is not: its attribute depends on its type."""


def schedule_of(read: Mapping[str, Any], written: Mapping[str, str], *, source: str) -> ScheduleSpec:
    """Return a schedule with the options that were read: exactly one of cron, every, at and manual, and others."""
    kind, expr = _rule(read, written)
    given = {field.attribute: read[field.name] for field in _PLAIN if field.name in read}
    # Not compiled: H depends on the id of the schedule, and an expression may match a date only for some values of H.
    zone = cron.zone_of(expr) if kind is ScheduleType.CRON else "UTC"
    return ScheduleSpec(
        **{"timezone": zone, **given}, options=option_overlay(read), type=kind, expr=expr, source=source
    )


def _rule(read: Mapping[str, Any], written: Mapping[str, str]) -> tuple[ScheduleType, str]:
    given = [field.name for field in RULE if read.get(field.name, False) is not False]
    if len(given) != 1:
        names = [written.get(name, name) for name in given]
        raise InvalidSchedule(
            f"a schedule has one rule, not {len(names)}" + (f": {', '.join(names)}" if names else ""),
            hint=f"Give exactly one of {', '.join(field.name for field in RULE)}.",
            field="schedule_expr",
        )
    match given[0]:
        case "cron":
            return ScheduleType.CRON, read["cron"]
        case "every":
            return ScheduleType.INTERVAL, str(read["every"] // SECOND)
        case "at":
            return ScheduleType.ONCE, str(ceil_second(read["at"]))
        case _:
            return ScheduleType.MANUAL, ""
