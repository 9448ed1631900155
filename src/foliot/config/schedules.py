"""[[jobs.schedules]], and the schedule that a job has inline: from what was read to schedules of the domain.

Those of a workflow are read in the same way; they start it by its own name, so that a launcher can be put between. A
trigger of a graph from elsewhere that is `schedule_based` is such a schedule.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from foliot.config.document import Node
from foliot.config.keys import (
    FOR_WHOM,
    PAYLOAD,
    POLICY,
    RULE,
    SCHEDULE,
    SCHEDULE_BASED,
    TRIGGER,
    WORKFLOW_SCHEDULE,
)
from foliot.config.schema import Fields, Found, Key, Reading, Schema
from foliot.domain.deployment import FILE
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.input.schedule import read_schedule
from foliot.domain.schedule import (
    BEGINNING_OF_TIME,
    Catchup,
    Overlap,
    ScheduleSpec,
    ScheduleType,
    canonical,
    check_schedule,
    compiled,
    why_over,
)
from foliot.errors import InvalidInput, Place, suggest

DEFAULT_NAME: Final = "default"
_PROBE: Final = {"job_id": "job", "manual": True}
_FIELDS: Final = {key.field: key.name for key in (*RULE, *POLICY)} | {"schedule_expr": "schedule"}


class NamedSchedule(NamedTuple):
    id: ScheduleId
    spec: ScheduleSpec
    place: Place
    is_past: bool
    """Whether it cannot fire any more."""


class _Target(NamedTuple):
    """What is started."""

    field: str
    id: JobId


def job_schedules(job_id: JobId, job: Fields, reading: Reading) -> Iterator[NamedSchedule]:
    """The schedules of a job, checked. What is wrong with one has become a problem, and it is left out."""
    return _schedules(_Target("job_id", job_id), job, _tables(job, "schedules", SCHEDULE, reading), reading)


def workflow_schedules(workflow_id: JobId, workflow: Fields, reading: Reading) -> Iterator[NamedSchedule]:
    """The same of a workflow, those among its triggers too."""
    tables = (*_tables(workflow, "schedules", WORKFLOW_SCHEDULE, reading), *_triggers(workflow, reading))
    return _schedules(_Target("workflow_id", workflow_id), workflow, tables, reading)


def _schedules(
    target: _Target, fields: Fields, tables: Iterable[tuple[Fields, Place]], reading: Reading
) -> Iterator[NamedSchedule]:
    policy = Fields({key.name: fields[key.name] for key in (*POLICY, FOR_WHOM) if key.name in fields})
    checked = _without_faults(policy, POLICY, reading)
    rule = Fields({key.name: fields[key.name] for key in RULE if key.name in fields})
    if rule:
        place = next(iter(rule.values())).place
        yield from _schedule(target, DEFAULT_NAME, Fields(checked | rule), place, reading)
    for table, place in tables:
        own = _without_faults(table, POLICY, reading)
        name = table.value("name", DEFAULT_NAME)
        yield from _schedule(target, name, Fields(checked | own), place, reading)


def _tables(fields: Fields, name: str, schema: Schema, reading: Reading) -> Iterator[tuple[Fields, Place]]:
    for node in _nodes(fields.get(name), name, reading):
        table = reading.table(node, schema)
        if isinstance(node.value, dict):
            yield table, node.place


def _nodes(found: Found | None, name: str, reading: Reading) -> Iterator[Node]:
    if found is not None and not isinstance(found.value, list):
        hint = f"Write [[{found.node.path[0]}.{name}]]."
        reading.problems.error(found.place, f"{name} must be a list of tables", hint)
    elif found is not None:
        yield from found.node.children()


def _triggers(workflow: Fields, reading: Reading) -> Iterator[tuple[Fields, Place]]:
    """Triggers that are schedules. Somebody else may know what to do about the others: they are only told of."""
    for node in _nodes(workflow.get("triggers"), "triggers", reading):
        if isinstance(node.value, dict) and node.value.get("type") != SCHEDULE_BASED:
            _tell_of_other(node, reading)
        elif isinstance(node.value, dict):
            yield reading.table(node, TRIGGER), node.place
        else:
            reading.table(node, TRIGGER)


def _tell_of_other(node: Node, reading: Reading) -> None:
    kind = node.value.get("type")
    hint = f'A schedule has type = "{SCHEDULE_BASED}".'
    if not isinstance(kind, str):
        reading.problems.error(node.place, "the trigger has no type", hint)
    elif near := suggest(kind, [SCHEDULE_BASED]):
        reading.problems.error(node.child("type").place, f"type {kind[:64]!a} does not exist", near)
    else:
        reading.problems.warning(node.place, f"a trigger of type {kind[:64]!a} starts nothing here", hint)


def _schedule(target: _Target, name: str, fields: Fields, place: Place, reading: Reading) -> Iterator[NamedSchedule]:
    schedule_id = ScheduleId(f"{target.id}:{name}")
    try:
        _check_plain(name)
        spec = canonical(_read(target, fields), schedule_id)
        over = why_over(spec, schedule_id, reading.now)
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


def _read(target: _Target, fields: Fields) -> ScheduleSpec:
    given = fields.fill((*RULE, *POLICY, PAYLOAD, FOR_WHOM))
    return read_schedule({**given, target.field: target.id, "source": FILE})


def _place_of(error: InvalidInput, fields: Fields, place: Place) -> Place:
    """Where the key stands that an error is about; any key of the rule for what the rule as a whole does wrong."""
    named = _FIELDS.get(error.field, error.field)
    names = [named, *(key.name for key in RULE)] if error.field == "schedule_expr" else [named]
    return next((fields[name].place for name in names if name in fields), place)


def _warn(spec: ScheduleSpec, schedule_id: ScheduleId, fields: Fields, place: Place, reading: Reading) -> None:
    if spec.type is ScheduleType.CRON:
        for warning in compiled(spec, schedule_id).warnings:
            hint = "Look at its next moments with: foliot next"
            reading.problems.warning(fields["schedule"].place, warning, hint)
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
        check_schedule(read_schedule(probe), ScheduleId("probe"), BEGINNING_OF_TIME)
    except InvalidInput as error:
        reading.refuse(found.place, error)
        return False
    return True
