"""[[jobs.schedules]], and the schedule that a job has inline: from what was read to schedules of the domain.

Those of a workflow are read in the same way.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from foliot.config.keys import PAYLOAD, POLICY, RULE, SCHEDULE
from foliot.config.problems import Place
from foliot.config.schema import Fields, Found, Key, Reading
from foliot.domain.deployment import FILE
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.input.schedule import read_schedule
from foliot.domain.instant import Instant
from foliot.domain.schedule import Catchup, Overlap, ScheduleSpec, ScheduleType, canonical, check_schedule, compiled
from foliot.errors import InvalidInput

DEFAULT_NAME: Final = "default"
_ALWAYS: Final = Instant(0)
"""As now, it tells what can never be from what can not be any more."""
_ENDS: Final = ("end_at", "schedule_expr")
"""What an error is about that only the passing of time may have caused."""
_PROBE: Final = {"job_id": "job", "manual": True}
_FIELDS: Final = {key.field: key.name for key in (*RULE, *POLICY)} | {"schedule_expr": "schedule"}


class NamedSchedule(NamedTuple):
    id: ScheduleId
    spec: ScheduleSpec
    place: Place
    is_past: bool
    """Whether it cannot fire any more."""


def job_schedules(job_id: JobId, job: Fields, reading: Reading) -> Iterator[NamedSchedule]:
    """The schedules of a job, checked. What is wrong with one has become a problem, and it is left out."""
    policy = Fields({key.name: job[key.name] for key in POLICY if key.name in job})
    checked = _without_faults(policy, POLICY, reading)
    rule = Fields({key.name: job[key.name] for key in RULE if key.name in job})
    if rule:
        place = next(iter(rule.values())).place
        yield from _schedule(job_id, DEFAULT_NAME, Fields(checked | rule), place, reading)
    for fields, place in _tables(job.get("schedules"), reading):
        own = _without_faults(fields, POLICY, reading)
        name = fields.value("name", DEFAULT_NAME)
        yield from _schedule(job_id, name, Fields(checked | own), place, reading)


def _tables(found: Found | None, reading: Reading) -> Iterator[tuple[Fields, Place]]:
    if found is None:
        return
    if not isinstance(found.value, list):
        reading.problems.error(found.place, "schedules must be a list of tables", _example(found))
        return
    for node in found.node.children():
        fields = reading.table(node, SCHEDULE)
        if isinstance(node.value, dict):
            yield fields, node.place


def _example(found: Found) -> str:
    return f"Write [[{found.node.path[0]}.schedules]]."


def _schedule(job_id: JobId, name: str, fields: Fields, place: Place, reading: Reading) -> Iterator[NamedSchedule]:
    schedule_id = ScheduleId(f"{job_id}:{name}")
    try:
        _check_plain(name)
        spec = canonical(_read(job_id, fields), schedule_id)
        over = _is_over(spec, schedule_id, reading.now)
    except InvalidInput as error:
        reading.refuse(_place_of(error, fields, place), error, f'schedule "{schedule_id[:64]}": ')
        return
    if over is not None:
        message = f'schedule "{schedule_id[:64]}" will not fire any more: {over.message}'
        reading.problems.warning(_place_of(over, fields, place), message, "Remove it, or give it a later time.")
    _warn(spec, schedule_id, fields, place, reading)
    yield NamedSchedule(schedule_id, spec, place, over is not None)


def distinct(schedules: Iterable[NamedSchedule], reading: Reading) -> Iterator[NamedSchedule]:
    """The same schedules, which must all have names of their own."""
    seen: dict[ScheduleId, Place] = {}
    for schedule in schedules:
        if schedule.id in seen:
            hint = f"The first stands at {seen[schedule.id]}. Give each a name of its own."
            name = schedule.id.rpartition(":")[2]
            reading.problems.error(schedule.place, f'there are two schedules named "{name}"', hint)
        seen.setdefault(schedule.id, schedule.place)
        yield schedule


def _check_plain(name: str) -> None:
    if ":" in name:
        hint = "Use letters, digits, _ . @ and -."
        raise InvalidInput("the name of a schedule cannot contain a colon", hint=hint, field="name")


def _read(job_id: JobId, fields: Fields) -> ScheduleSpec:
    given = fields.fill((*RULE, *POLICY, PAYLOAD))
    return read_schedule({**given, "job_id": job_id, "source": FILE})


def _place_of(error: InvalidInput, fields: Fields, place: Place) -> Place:
    """Where the key stands that an error is about; any key of the rule for what the rule as a whole does wrong."""
    named = _FIELDS.get(error.field, error.field)
    names = [named, *(key.name for key in RULE)] if error.field == "schedule_expr" else [named]
    return next((fields[name].place for name in names if name in fields), place)


def _is_over(spec: ScheduleSpec, schedule_id: ScheduleId, now: Instant) -> InvalidInput | None:
    """Why a schedule cannot fire any more. InvalidInput is raised for one that never could.

    One whose time is over was right once: the file that holds it must stay usable.
    """
    try:
        check_schedule(spec, schedule_id, now)
    except InvalidInput as error:
        if error.field not in _ENDS:
            raise
        check_schedule(spec, schedule_id, _ALWAYS)
        return error
    return None


def _warn(spec: ScheduleSpec, schedule_id: ScheduleId, fields: Fields, place: Place, reading: Reading) -> None:
    if spec.type is ScheduleType.CRON:
        for warning in compiled(spec, schedule_id).warnings:
            reading.problems.warning(fields["schedule"].place, warning)
    if spec.catchup is Catchup.ALL and spec.overlap is Overlap.SKIP:
        at = next((fields[name].place for name in ("catchup", "overlap") if name in fields), place)
        hint = 'Use overlap = "queue" to run each of them, or catchup = "once" for the latest alone.'
        reading.problems.warning(at, "missed ticks are all offered, but skipped while one of them runs", hint)


def _without_faults(fields: Fields, keys: tuple[Key, ...], reading: Reading) -> Fields:
    """The fields without those that are wrong by themselves, each of which becomes a problem of its own."""
    by_name = {key.name: key for key in keys}
    return Fields(
        {
            name: found
            for name, found in fields.items()
            if name not in by_name or _is_good(by_name[name].field, found, reading)
        }
    )


def _is_good(field: str, found: Found, reading: Reading) -> bool:
    probe: dict[str, Any] = {**_PROBE, field: found.value}
    try:
        check_schedule(read_schedule(probe), ScheduleId("probe"), _ALWAYS)
    except InvalidInput as error:
        reading.refuse(found.place, error)
        return False
    return True
