"""[[chains]]: from what was read to the jobs of classes."""

from collections.abc import Collection, Iterator
from typing import Any, Final

import msgspec
from msgspec import convert
from msgspec.structs import asdict, replace

from foliot.config.document import Node
from foliot.config.jobs import FileJob, read_id, read_options, warn_of_unserved_queue, with_variables
from foliot.config.kinds import Kind, kind_of, refuse_foreign_keys
from foliot.config.reading import Fields, Found, Reading
from foliot.config.schedules import NamedSchedule, distinct, job_schedules
from foliot.config.work import read_work
from foliot.domain.chain.class_state import JOB_CLASS
from foliot.domain.chain.spec import CHAIN as CHAIN_KIND
from foliot.domain.chain.spec import STAGES, BreakerRule, Ceilings, ChainSpec, Interval, Limits, Stage
from foliot.domain.deploy.deployment import FILE
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.job.job import JobSpec, Options, check_name
from foliot.domain.job.kinds import KINDS
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.vocabulary.chain import CHAIN, CHAIN_ONLY, INTERVAL, LIMITS, STAGE, STAGE_ONLY
from foliot.domain.vocabulary.job import DESCRIPTION
from foliot.errors import InvalidInput

_OF_STAGES: Final = (*KINDS, FANOUT)
_DESCRIBED: Final = {field.name: field.attribute for field in DESCRIPTION}
_STAGE_FIELDS: Final = {field.name: field.attribute for field in STAGE_ONLY}
_CHAIN_FIELDS: Final = ("window", "grace", "good_checks")
_NO_DEFAULTS: Final = Fields()


class ChainReader:
    """Reads classes of chains, one by one. `queues`: those that this server works on; None if it has no worker."""

    def __init__(self, ceilings: Ceilings, queues: Collection[str] | None, reading: Reading) -> None:
        self._ceilings = ceilings
        self._queues = queues
        self._reading = reading

    def read(self, node: Node) -> FileJob | None:
        """Return the job of a class as far as it can be read, and report its problems."""
        own = self._reading.table(node, CHAIN)
        if not isinstance(node.value, dict):
            return None
        known = self._reading.problems.errors
        class_id = read_id(own, node, "chain", "auction-defense", self._reading)
        if class_id.startswith(JOB_CLASS):
            hint = f"Such a class has the follow-ups of a job. Leave out {JOB_CLASS}"
            self._reading.problems.error(own["id"].place, f"the id of a class cannot begin with {JOB_CLASS}", hint)
        spec = self._spec(own, node)
        schedules = tuple(distinct(job_schedules(class_id, own, self._reading), self._reading))
        if spec is None or self._reading.problems.errors > known:
            return FileJob(class_id, None, (), own, node)
        described: dict[str, Any] = own.take(_DESCRIBED)
        job = JobSpec(
            kind=CHAIN_KIND,
            spec=msgspec.to_builtins(spec, str_keys=True),
            options=Options(queue=TREES_QUEUE),
            enabled=own.value("enabled", True),
            source=FILE,
            **{**described, "tags": tuple(described.get("tags", ()))},
        )
        if "overlap" not in own:
            schedules = tuple(map(_overlapping, schedules))
        return FileJob(class_id, job, schedules, own, node)

    def _spec(self, own: Fields, node: Node) -> ChainSpec | None:
        known = self._reading.problems.errors
        stages, intervals = self._stages(own), self._intervals(own)
        limits = Limits(**own.fill(LIMITS))
        spec = ChainSpec(
            stages=stages,
            limits=limits,
            breaker=BreakerRule(**own.value("breaker", {})),
            **intervals,
            **own.take({field.name: field.attribute for field in CHAIN_ONLY if field.name in _CHAIN_FIELDS}),
        )
        try:
            self._ceilings.check(limits)
            if self._reading.problems.errors == known:  # otherwise a stage may be missing that was given
                spec.check()
        except InvalidInput as error:
            place = own[error.field].place if error.field in own else node.place
            self._reading.refuse(place, error)
            return None
        return spec

    def _intervals(self, own: Fields) -> dict[str, Any]:
        if "intervals" not in own:
            return {}
        found = own["intervals"]
        if not isinstance(found.value, list):
            self._reading.problems.error(
                found.place, "intervals must be a list of tables", "Write [[chains.intervals]]."
            )
            return {}
        read = [self._interval(child) for child in found.node.children()]
        return {"intervals": tuple(interval for interval in read if interval is not None)}

    def _interval(self, node: Node) -> Interval | None:
        known = self._reading.problems.errors
        given = self._reading.table(node, INTERVAL).fill(INTERVAL)
        if "every" in given:
            return Interval(**given)
        if self._reading.problems.errors == known:
            hint = 'Give it one, such as every = "5m".'
            self._reading.problems.error(node.place, "the interval has no every", hint)
        return None

    # -- stages

    def _stages(self, own: Fields) -> dict[str, Stage]:
        stages = {name: self._stage(name, own[name].node) for name in STAGES if name in own}
        if "stages" in own:
            stages |= self._further(own["stages"])
        return {name: stage for name, stage in stages.items() if stage is not None}

    def _further(self, found: Found) -> dict[str, Stage | None]:
        if not isinstance(found.value, dict):
            self._reading.problems.error(found.place, "stages must be a table", "Write [chains.stages.NAME].")
            return {}
        stages: dict[str, Stage | None] = {}
        for name in found.value:
            node = found.node.child(name)
            try:
                check_name("stage", name)
            except InvalidInput as error:
                self._reading.refuse(node.place, error)
                continue
            if name in STAGES:
                hint = f"Write [chains.{name}]."
                self._reading.problems.error(node.place, f"{name} has a place of its own", hint)
                continue
            stages[name] = self._stage(name, node)
        return stages

    def _stage(self, name: str, node: Node) -> Stage | None:
        fields = self._reading.table(node, STAGE)
        if not isinstance(node.value, dict):
            return None
        own = fields.take(_STAGE_FIELDS)
        if "job" in fields:
            self._refuse_work(fields)
            return self._made(name, own, fields)
        kind = kind_of(fields, _NO_DEFAULTS, _OF_STAGES, self._reading)
        if kind is None:
            return None
        refuse_foreign_keys(kind, fields, self._reading)
        work = Fields({key: found for key, found in fields.items() if key not in _STAGE_FIELDS})
        options = read_options(work, self._reading)
        warn_of_unserved_queue(fields, options, self._queues, self._reading)
        spec, options = read_work(kind, fields, options, node, self._reading)
        written = with_variables(fields, spec)
        return self._made(name, {**own, **_work(kind, spec, options), "written": written}, fields)

    def _refuse_work(self, fields: Fields) -> None:
        for name in fields.keys() - _STAGE_FIELDS.keys():
            hint = "Change the job itself, or leave it out."
            message = f"{fields[name].name} is not an option of a stage that runs a job"
            self._reading.problems.error(fields[name].place, message, hint)

    def _made(self, name: str, given: dict[str, Any], fields: Fields) -> Stage | None:
        stage = convert(given, Stage)
        try:
            stage.check(name)
        except InvalidInput as error:
            self._reading.refuse(fields["exit_codes"].place, error)
            return None
        return stage


def _work(kind: Kind, spec: dict[str, Any], options: Options) -> dict[str, Any]:
    given = {name: value for name, value in asdict(options).items() if value != getattr(Options(), name)}
    return {"kind": kind.name, "spec": spec, "options": msgspec.to_builtins(given)}


def stage_nodes(own: Fields) -> Iterator[Node]:
    """Yield the tables of the stages of a class."""
    yield from (own[name].node for name in STAGES if name in own)
    if "stages" in own:
        yield from own["stages"].node.children()


def _overlapping(schedule: NamedSchedule) -> NamedSchedule:
    """Let the scout look again while a chain is active: it may find another incident."""
    return schedule._replace(spec=replace(schedule.spec, overlap=Overlap.ALLOW))
