"""[[jobs.schedules]], and the schedule in the table of a job: from what was read to schedules of the domain.

Schedules of a workflow are read in the same way; they start it by its own name, so that a launcher can be put between.
A trigger of type `schedule_based` is such a schedule.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from foliot.config.document import Node
from foliot.config.reading import Fields, Found, Reading
from foliot.domain.deploy.deployment import FILE
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.input.schedule import schedule_of
from foliot.domain.job.job import LONGEST_NAME
from foliot.domain.schedule.schedule import (
    BEGINNING_OF_TIME,
    Catchup,
    Overlap,
    ScheduleSpec,
    ScheduleType,
    canonical,
    check_schedule,
    compiled,
    expiry_error,
)
from foliot.domain.vocabulary.field import Schema
from foliot.domain.vocabulary.places import SCHEDULE, SCHEDULE_BASED, TRIGGER, WORKFLOW_SCHEDULE
from foliot.domain.vocabulary.schedule import POLICY, RULE, USER
from foliot.errors import InvalidInput, Place, suggest

DEFAULT_NAME: Final = "default"
_RULE: Final = tuple(field.name for field in RULE)
_POLICY: Final = frozenset(field.name for field in POLICY)
_FOR_ALL: Final = _POLICY | {USER.name}
"""Keys beside the rule of a job that hold for all its schedules."""


class NamedSchedule(NamedTuple):
    id: ScheduleId
    spec: ScheduleSpec
    written: Node | Found
    is_past: bool
    """Whether it will not fire any more."""

    @property
    def place(self) -> Place:
        return self.written.place


class _Target(NamedTuple):
    """The job or workflow that is started."""

    field: str
    id: JobId


def job_schedules(job_id: JobId, job: Fields, reading: Reading) -> Iterator[NamedSchedule]:
    """Return the schedules of a job. One with a problem is reported and left out."""
    return _schedules(_Target("job_id", job_id), job, _tables(job, "schedules", SCHEDULE, reading), reading)


def workflow_schedules(workflow_id: JobId, workflow: Fields, reading: Reading) -> Iterator[NamedSchedule]:
    """Return the schedules of a workflow, its triggers included."""
    tables = (*_tables(workflow, "schedules", WORKFLOW_SCHEDULE, reading), *_triggers(workflow, reading))
    return _schedules(_Target("workflow_id", workflow_id), workflow, tables, reading)


def _schedules(
    target: _Target, fields: Fields, tables: Iterable[tuple[Fields, Node]], reading: Reading
) -> Iterator[NamedSchedule]:
    checked = _without_faults(Fields({name: found for name, found in fields.items() if name in _FOR_ALL}), reading)
    rule = {name: fields[name] for name in _RULE if name in fields}
    if rule:
        written = next(iter(rule.values()))
        yield from _schedule(target, DEFAULT_NAME, Fields(checked | rule), written, reading)
    for table, node in tables:
        own = _without_faults(table, reading)
        name = table.value("name", DEFAULT_NAME)
        yield from _schedule(target, name, Fields(checked | own), node, reading)


def _tables(fields: Fields, name: str, schema: Schema, reading: Reading) -> Iterator[tuple[Fields, Node]]:
    for node in _nodes(fields.get(name), name, reading):
        table = reading.table(node, schema)
        if isinstance(node.value, dict):
            yield table, node


def _nodes(found: Found | None, name: str, reading: Reading) -> Iterator[Node]:
    if found is not None and not isinstance(found.value, list):
        hint = f"Write [[{found.node.path[0]}.{name}]]."
        reading.problems.error(found.place, f"{name} must be a list of tables", hint)
    elif found is not None:
        yield from found.node.children()


def _triggers(workflow: Fields, reading: Reading) -> Iterator[tuple[Fields, Node]]:
    """Yield the triggers that are schedules. Others have no effect here and are a warning."""
    for node in _nodes(workflow.get("triggers"), "triggers", reading):
        if isinstance(node.value, dict) and node.value.get("type") != SCHEDULE_BASED:
            _report_other(node, reading)
        elif isinstance(node.value, dict):
            yield reading.table(node, TRIGGER), node
        else:
            reading.table(node, TRIGGER)


def _report_other(node: Node, reading: Reading) -> None:
    kind = node.value.get("type")
    hint = f'A schedule has type = "{SCHEDULE_BASED}".'
    if not isinstance(kind, str):
        reading.problems.error(node.place, "the trigger has no type", hint)
    elif near := suggest(kind, [SCHEDULE_BASED]):
        reading.problems.error(node.child("type").place, f"type {kind[:64]!a} does not exist", near)
    else:
        reading.problems.warning(node.place, f"a trigger of type {kind[:64]!a} starts nothing here", hint)


def _schedule(
    target: _Target, name: str, fields: Fields, written: Node | Found, reading: Reading
) -> Iterator[NamedSchedule]:
    schedule_id = ScheduleId(f"{target.id}:{name}")
    try:
        _check_plain(name)
        _check_length(target, name)
        spec = canonical(_read(target, fields), schedule_id)
        over = expiry_error(spec, schedule_id, reading.now)
    except InvalidInput as error:
        place = _place_of(error, fields, written)
        reading.refuse(place, error, f'schedule "{schedule_id[:64]}": ', fields.written)
        return
    if over is not None:
        message = f'schedule "{schedule_id[:64]}" will not fire any more: {over.message}'
        reading.problems.warning(_place_of(over, fields, written), message, "Remove it, or give it a later time.")
    _warn(spec, schedule_id, fields, written, reading)
    yield NamedSchedule(schedule_id, spec, written, over is not None)


def distinct(schedules: Iterable[NamedSchedule], reading: Reading) -> Iterator[NamedSchedule]:
    """Yield the same schedules, and report those with the name of another one."""
    seen: dict[ScheduleId, NamedSchedule] = {}
    for schedule in schedules:
        if schedule.id in seen:
            hint = f"The first one is at {seen[schedule.id].place}. Give each a name of its own."
            name = schedule.id.rpartition(":")[2]
            reading.problems.error(schedule.place, f'there are two schedules named "{name}"', hint)
        seen.setdefault(schedule.id, schedule)
        yield schedule


def _check_plain(name: str) -> None:
    if ":" in name:
        hint = "Use letters, digits, _ . @ and -."
        raise InvalidInput("the name of a schedule cannot contain a colon", hint=hint, field="name")


def _check_length(target: _Target, name: str) -> None:
    length = len(target.id) + len(name)
    if length >= LONGEST_NAME:
        what = target.field.removesuffix("_id")
        raise InvalidInput(
            f"the id of the {what} and the name of its schedule have {length} characters together,"
            f" more than {LONGEST_NAME - 1}",
            hint=f'A schedule without a name is called "{DEFAULT_NAME}". Give the {what} a shorter id.',
            field="name",
        )


def _read(target: _Target, fields: Fields) -> ScheduleSpec:
    return schedule_of({**fields.read, target.field: target.id}, fields.written, source=FILE)


def _place_of(error: InvalidInput, fields: Fields, written: Node | Found) -> Place:
    """Return where the key is written that an error is about; for an error of the rule, any key of the rule."""
    names = _RULE if error.field == "schedule_expr" else [error.field]
    return next((fields[name] for name in names if name in fields), written).place


def _warn(spec: ScheduleSpec, schedule_id: ScheduleId, fields: Fields, written: Node | Found, reading: Reading) -> None:
    if spec.type is ScheduleType.CRON:
        for warning in compiled(spec, schedule_id).warnings:
            hint = "Look at its next moments with: foliot next"
            reading.problems.warning(fields["cron"].place, warning, hint)
    if spec.catchup is Catchup.ALL and spec.overlap is Overlap.SKIP:
        at = next((fields[name] for name in ("catchup", "overlap") if name in fields), written).place
        hint = 'Use overlap = "queue" to run each of them, or catchup = "once" for the latest alone.'
        reading.problems.warning(at, "missed ticks are all offered, but skipped while one of them runs", hint)


def _without_faults(fields: Fields, reading: Reading) -> Fields:
    """Return the fields without policies that are wrong by themselves, and report each of those."""
    return Fields(
        {name: found for name, found in fields.items() if name not in _POLICY or _is_good(name, found, reading)}
    )


def _is_good(name: str, found: Found, reading: Reading) -> bool:
    probe = schedule_of({"job_id": "job", "manual": True, name: found.value}, {}, source=FILE)
    try:
        check_schedule(probe, ScheduleId("probe"), BEGINNING_OF_TIME)
    except InvalidInput as error:
        reading.refuse(found.place, error, written={name: found.name})
        return False
    return True
