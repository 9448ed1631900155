"""Converts [[jobs]] to definitions of the domain. Steps and workflows share parts of it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from foliot.config.document import Node
from foliot.config.environment import has_variables
from foliot.config.kinds import OF_JOBS, Kind, kind_of, over_defaults, refuse_foreign_keys
from foliot.config.reading import Fields, Found, Reading, read_value
from foliot.config.schedules import NamedSchedule, distinct, job_schedules
from foliot.config.work import read_work
from foliot.domain.deploy.deployment import FILE
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.input.job import gate_of, option_overlay
from foliot.domain.job.job import JobSpec, Options, check_name, overlay
from foliot.domain.job.kinds.agent import ARGS as AGENT_ARGS
from foliot.domain.notification.rule import NO_OPTIONS, Notify
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.vocabulary.field import Field, only
from foliot.domain.vocabulary.job import DESCRIPTION, GATE, OPTIONS
from foliot.domain.vocabulary.kind import NOTICES
from foliot.domain.vocabulary.notification import NOTIFY
from foliot.domain.vocabulary.places import JOB, OF_KINDS
from foliot.domain.workflow.graph import find_cycles
from foliot.errors import InvalidInput, Place

_KEPT: Final = ("id", "renamed_from", "depends_on")
_MAX_CONCURRENT: Final = 1
"""The default for a job in a file."""
_MAY_BE_SECRET: Final = only(
    (*OF_KINDS, *DESCRIPTION), "url", "body", "json", "payload", "cli", "prompt_args", "env", "headers"
)
"""Keys whose variables may be secrets."""
_DESCRIBED: Final = {field.name: field.attribute for field in DESCRIPTION}
_IN_ARGS: Final = frozenset(field.name for field in NOTICES)
_OF_GATES: Final = frozenset(field.name for field in GATE)


class FileJob(NamedTuple):
    """A job of a file. `spec` is None if it could not be read."""

    id: JobId
    spec: JobSpec | None
    schedules: tuple[NamedSchedule, ...]
    fields: Fields
    written: Node

    @property
    def place(self) -> Place:
        return self.written.place


class JobReader:
    """Reads jobs, one by one. `queues`: those that this server works on; None if it has no worker."""

    def __init__(self, defaults: Fields, queues: Collection[str] | None, reading: Reading) -> None:
        self._defaults = defaults
        self._queues = queues
        self._reading = reading

    def check_defaults(self) -> None:
        """Report the problems of [defaults], even if there is no job."""
        read_options(self._defaults, self._reading)
        list(job_schedules(JobId("defaults"), self._defaults, self._reading))

    def read(self, node: Node) -> FileJob | None:
        """Return a job as far as it can be read, and report its problems."""
        own = self._reading.table(node, JOB)
        if not isinstance(node.value, dict):
            return None
        job_id = read_id(own, node, "job", "nightly-backup", self._reading)
        kind = kind_of(own, self._defaults, OF_JOBS, self._reading)
        if kind is None:
            return FileJob(job_id, None, (), own, node)
        refuse_foreign_keys(kind, own, self._reading)
        fields = over_defaults(own, self._defaults, kind)
        schedules = tuple(distinct(job_schedules(job_id, fields, self._reading), self._reading))
        options = read_options(fields, self._reading, max_concurrent=_MAX_CONCURRENT)
        gate = read_gate(job_id, kind, own, fields, node, self._reading)
        warn_of_unserved_queue(fields, options, self._queues, self._reading)
        spec, options = read_work(kind, fields, options, node, self._reading)
        _warn_of_serial_overlap(fields, options, schedules, self._reading)
        job = definition(kind, spec, options, fields, gate, _notify(fields))
        return FileJob(job_id, job, schedules, _kept(fields), node)


def _notify(fields: Fields) -> Notify:
    """Return the options about notifications. Two of them may be in `args`."""
    args = {name: value for name, value in fields.value("args", {}).items() if name in _IN_ARGS}
    return Notify(**args | fields.fill(NOTIFY))


def _kept(fields: Fields) -> Fields:
    """Return the fields that are needed after a job has been read."""
    return Fields({name: fields[name] for name in _KEPT if name in fields})


def _warn_of_serial_overlap(
    fields: Fields, options: Options, schedules: Iterable[NamedSchedule], reading: Reading
) -> None:
    """Warn if runs may overlap by their schedule but not by max_concurrent."""
    allowing = [schedule for schedule in schedules if schedule.spec.overlap is Overlap.ALLOW]
    if allowing and options.max_concurrent == 1:
        place = fields["overlap"].place if "overlap" in fields else allowing[0].place
        hint = "Give a larger max_concurrent, or 0 for no limit."
        reading.problems.warning(place, "runs may overlap, but max_concurrent is 1: they wait for each other", hint)


# -- shared with steps and workflows


def read_id(fields: Fields, node: Node, what: str, example: str, reading: Reading) -> JobId:
    """Return the id; a substitute for one that is missing or wrong, so that reading can go on."""
    if "id" not in node.value:
        reading.problems.error(node.place, f"the {what} has no id", f'Give it one, such as id = "{example}".')
    given = fields.value("id", what)
    try:
        check_name("id", given)
    except InvalidInput as error:
        reading.refuse(fields["id"].place, error)
        return JobId(what)
    return JobId(given)


def read_options(
    fields: Fields, reading: Reading, *, options: Iterable[Field] = OPTIONS, max_concurrent: int | None = None
) -> Options:
    """Return how the runs are handled. Each option is checked alone, so that every problem is reported."""
    names = [option.name for option in options if option.name in fields]
    given = {name: fields[name].value for name in names if _is_good_option(name, fields[name], reading)}
    bare = Options(max_concurrent=max_concurrent)
    return overlay(bare, option_overlay(given)) if given else bare


def _is_good_option(name: str, found: Found, reading: Reading) -> bool:
    try:
        overlay(Options(), option_overlay({name: found.value})).check()
    except InvalidInput as error:
        reading.refuse(found.place, error, written={name: found.name})
        return False
    return True


def definition(
    kind: Kind,
    spec: dict[str, Any],
    options: Options,
    fields: Fields,
    gate: Gate | None = None,
    notify: Notify = NO_OPTIONS,
) -> JobSpec:
    described: dict[str, Any] = fields.take(_DESCRIBED)
    described["tags"] = tuple(described.get("tags", ()))
    return JobSpec(
        kind=kind.name,
        inner_kind=kind.runner if kind.is_gate else "",
        spec=spec,
        options=options,
        enabled=fields.value("enabled", True),
        source=FILE,
        notify=notify,
        gate=gate,
        written=with_variables(fields, spec),
        **described,
    )


def with_variables(fields: Fields, spec: Collection[str]) -> dict[str, Any]:
    """Return the values that may be secrets and contain variables, with the names of the variables."""
    raw = [(field, fields[field.name].node.value) for field in _MAY_BE_SECRET if field.name in fields]
    written = {field.attribute: read_value(field.read, value) for field, value in raw if has_variables(value)}
    args = fields["args"].node.value if "args" in fields else {}
    if not isinstance(args, dict):
        return written
    of_agent = {name: args[name] for name in AGENT_ARGS if name in args and name in spec}
    return written | {name: value for name, value in of_agent.items() if has_variables(value)}


def warn_of_unserved_queue(fields: Fields, options: Options, queues: Collection[str] | None, reading: Reading) -> None:
    """Warn about a queue that this server does not serve. `queues`: those of its worker; None if it has none."""
    if "queue" in fields and queues is not None and options.queue not in queues:
        hint = f"Add it to [server] queues, or start a worker for it: foliot worker --queue {options.queue}"
        message = f'this server does not serve queue "{options.queue}"'
        reading.problems.warning(fields["queue"].place, message, hint)


# -- gates


def read_gate(job_id: JobId, kind: Kind, own: Fields, fields: Fields, node: Node, reading: Reading) -> Gate | None:
    """Return the gate of a job, and report its problems."""
    if "depends_on" not in own:
        if "depends_on" not in node.value:
            _refuse_without_dependencies(kind, own, node, reading)
        return None
    gate = gate_of(fields.read)
    try:
        gate.check(job_id)
    except InvalidInput as error:
        place = fields[error.field].place if error.field in fields else node.place
        reading.refuse(place, error, written=fields.written)
    for name, times in Counter(gate.depends_on).items():
        if times > 1:
            reading.problems.error(own["depends_on"].place, f'"{name[:64]}" is named twice', "Name each job once.")
    return gate


def _refuse_without_dependencies(kind: Kind, own: Fields, node: Node, reading: Reading) -> None:
    if kind.is_gate:
        hint = 'Name the jobs that it depends on: depends_on = ["backup"].'
        reading.problems.error(node.place, f"a job of kind {kind.name} needs depends_on", hint)
        return
    foreign = _OF_GATES - kind.shared_with_gates
    for found in [found for name, found in own.items() if name in foreign]:
        hint = "Name the jobs that it depends on in depends_on, or leave it out."
        reading.problems.error(found.place, f"{found.name} requires depends_on", hint)


def dependency_nodes(gate: Gate, found: Found) -> Iterator[tuple[JobId, Node]]:
    """Yield each job that a gate depends on, and where it is named."""
    for number, name in enumerate(gate.depends_on):
        yield name, Node(name, found.node.origin, (*found.node.path, number))


def gate_cycles(gates: Mapping[JobId, Gate]) -> Iterator[list[str]]:
    """Return cycles of gates that depend on each other; no two of them share a gate."""
    return find_cycles({job: [name for name in gate.depends_on if name != job] for job, gate in gates.items()})
