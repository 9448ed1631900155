"""[[workflows.steps]]: each a job of its own, a job of the file, or a question to a person."""

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from foliot.config.definitions import definition, read_options, warn_of_workers
from foliot.config.document import Node
from foliot.config.edges import read_edges
from foliot.config.gates import read_gate
from foliot.config.keys import APPROVAL, STEP, STEP_WORK
from foliot.config.kinds import OF_STEPS, Kind, kind_of, over_defaults, refuse_foreign_keys
from foliot.config.schema import Fields, Found, Reading
from foliot.config.specs import job_spec
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.instant import from_timedelta
from foliot.domain.job.job import JobSpec
from foliot.domain.job.kinds import check_spec
from foliot.domain.workflow.check import TEMPLATED
from foliot.domain.workflow.jobs import step_job_id
from foliot.domain.workflow.spec import Answer, Approval, Step, StepOverlap
from foliot.errors import InvalidInput, Place

UNREADABLE: Final = JobSpec(kind="unreadable")
"""Stands for work that could not be read, so that the rest of its workflow can be checked."""
_WORK: Final = frozenset(key.name for key in STEP_WORK)


class FileStep(NamedTuple):
    step: Step
    place: Place
    after: Place
    """Where it says what it follows."""
    depends_on: Found | None
    """What its gate looks at."""


class Around(NamedTuple):
    """What a step has from its workflow."""

    workflow_id: JobId
    timezone: Found | None


class StepReader:
    """Reads steps, one by one. `jobs` are those of the file, for steps that name one."""

    def __init__(
        self, defaults: Fields, queues: Collection[str] | None, jobs: Mapping[JobId, JobSpec], reading: Reading
    ) -> None:
        self._defaults = Fields({name: found for name, found in defaults.items() if name in _WORK | {"payload"}})
        self._queues = queues
        self._jobs = jobs
        self._reading = reading

    def read(self, node: Node, around: Around) -> FileStep | None:
        """A step, as far as it can be read. What is wrong with it by itself has become a problem."""
        own = self._reading.table(node, STEP)
        if not isinstance(node.value, dict):
            return None
        if "name" not in node.value:
            self._reading.problems.error(node.place, "the step has no name", 'Give it one, such as name = "load".')
        step = Step(
            name=own.value("name", f"step-{node.path[-1]}"),
            after=read_edges(own, self._reading),
            is_final=own.value("final", False),
            overlap=StepOverlap(own.value("overlap", StepOverlap.ALLOW)),
            payload=own.value("payload"),
            **self._work(own, node, around),
        )
        return FileStep(step, node.place, own["after"].place if "after" in own else node.place, own.get("depends_on"))

    def _work(self, own: Fields, node: Node, around: Around) -> dict[str, Any]:
        """What the step does: one of the fields that say so."""
        asked = self._approval(own.get("approve"))
        if "job" in node.value and asked is not None:
            hint = "Keep one of them, or make two steps."
            self._reading.problems.error(own["approve"].place, "a step names a job or asks a person, not both", hint)
        if "job" in node.value:
            return self._named(own.get("job"), own)
        if asked is not None:
            self._refuse_work(own, (), "that asks a person")
            return {"approval": asked}
        return {"definition": self._definition(own, node, around)}

    def _definition(self, own: Fields, node: Node, around: Around) -> JobSpec:
        known = self._reading.problems.errors
        kind = kind_of(own, self._defaults, OF_STEPS, self._reading)
        if kind is None:
            return UNREADABLE
        refuse_foreign_keys(kind, own, self._reading)
        work = Fields({name: found for name, found in own.items() if name in _WORK})
        fields = over_defaults(work, self._defaults, kind)
        options = read_options(fields, self._reading)
        gate = self._gate(own, fields, kind, node, around)
        spec = job_spec(kind.runner, fields, node, self._reading)
        warn_of_workers(fields, options, self._queues, self._reading)
        if self._reading.problems.errors > known:
            return UNREADABLE
        return definition(kind, spec, options, fields, gate)

    def _gate(self, own: Fields, fields: Fields, kind: Kind, node: Node, around: Around) -> Gate | None:
        """What the step asks of other jobs when it could start. Its day is that of its workflow, if it does not say."""
        if "timezone" in own and "depends_on" not in node.value:
            hint = "Name the jobs that it looks at in depends_on, or leave it out."
            self._reading.problems.error(own["timezone"].place, "timezone means nothing without depends_on", hint)
        zone = own.get("timezone") or around.timezone
        told = fields if zone is None else Fields({**fields, "timezone": zone})
        job_id = step_job_id(around.workflow_id, own.value("name", ""))
        return read_gate(job_id, kind, own, told, node, self._reading)

    def _named(self, found: Found | None, own: Fields) -> dict[str, Any]:
        """A job of the file, with what is given anew for this step: only what templates may stand in."""
        if found is None:
            return {"definition": UNREADABLE}
        job_id = JobId(found.value)
        job = self._jobs.get(job_id)
        if job is None:
            return {"job": job_id}
        anew = TEMPLATED.get(job.runner, ())
        self._refuse_work(own, anew, f'that runs job "{job_id[:64]}"')
        given = {name: own[name].value for name in anew if name in own}
        try:
            check_spec(job.runner, {**job.spec, **given})
        except InvalidInput as error:
            self._reading.refuse(own[error.field].place if error.field in own else found.place, error)
        return {"job": job_id, "spec": given}

    def _refuse_work(self, own: Fields, allowed: Collection[str], which: str) -> None:
        for name in own.keys() & _WORK - set(allowed):
            hint = f"It may have: {', '.join(allowed)}." if allowed else ""
            self._reading.problems.error(own[name].place, f"{name} means nothing to a step {which}", hint)

    def _approval(self, found: Found | None) -> Approval | None:
        if found is None or found.value is False:
            return None
        if found.value is True:
            return Approval()
        if not isinstance(found.value, dict):
            hint = 'Write true, or { timeout_sec = "1d", default = "reject" }.'
            self._reading.problems.error(found.place, "approve must be true or a table", hint)
            return Approval()
        fields = self._reading.table(found.node, APPROVAL)
        timeout = from_timedelta(fields["timeout_sec"].value) if fields.value("timeout_sec") else None
        return Approval(timeout=timeout, default=Answer(fields.value("default", Answer.REJECT)))
