"""[[workflows.steps]]: each a job of its own, a job of the file, or a question to a person; and the edges between them.

after = "extract"                                         one step, if it has succeeded
after = ["extract", "check"]                              both
after = { step = "extract", when = ["failure"] }          under another condition
after = ["check", { step = "extract", exit_code = 3 }]    a list of any of these
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from foliot.config.document import Node
from foliot.config.jobs import definition, read_gate, read_options, warn_of_unserved_queue
from foliot.config.kinds import OF_STEPS, Kind, kind_of, over_defaults, refuse_foreign_keys
from foliot.config.reading import Fields, Found, Reading
from foliot.config.work import read_work
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.input.step import approval_of
from foliot.domain.job.job import JobSpec
from foliot.domain.job.kinds import check_spec
from foliot.domain.vocabulary.kind import NOTICES
from foliot.domain.vocabulary.places import STEP
from foliot.domain.vocabulary.workflow import APPROVAL, EDGE, STEP_WORK
from foliot.domain.workflow.builder import read_conditions
from foliot.domain.workflow.check import TEMPLATED
from foliot.domain.workflow.conditions import Conditions
from foliot.domain.workflow.jobs import step_job_id
from foliot.domain.workflow.output import OutputTest
from foliot.domain.workflow.spec import ON_SUCCESS, Approval, Edge, Step, StepOverlap
from foliot.errors import InvalidInput, Place

UNREADABLE: Final = JobSpec(kind="unreadable")
"""The substitute for work that could not be read, so that the rest of its workflow can be checked."""
_NOTICES: Final = frozenset(field.name for field in NOTICES)
_WORK: Final = frozenset(field.name for field in STEP_WORK)


class FileStep(NamedTuple):
    step: Step
    place: Place
    after: Place
    """Where its `after` is written."""
    depends_on: Found | None
    """Where its `depends_on` is written."""


class Around(NamedTuple):
    """What a step takes from its workflow."""

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
        """Return a step as far as it can be read, and report its own problems."""
        own = self._reading.table(node, STEP)
        if not isinstance(node.value, dict):
            return None
        if "name" not in node.value:
            self._reading.problems.error(node.place, "the step has no name", 'Give it one, such as name = "load".')
        step = Step(
            name=own.value("name", f"step-{node.path[-1]}"),
            after=_read_edges(own, self._reading),
            is_final=own.value("final", False),
            recovers=own.value("recovers", False),
            overlap=own.value("overlap", StepOverlap.ALLOW),
            **{"payload": own.value("payload"), **self._work(own, node, around)},
        )
        return FileStep(step, node.place, own["after"].place if "after" in own else node.place, own.get("depends_on"))

    def _work(self, own: Fields, node: Node, around: Around) -> dict[str, Any]:
        """Return the field of `Step` that says what the step does."""
        if "workflow" in own:
            return self._subworkflow(own, node)
        if "params" in own:
            self._reading.problems.error(own["params"].place, "params requires workflow", "Use payload.")
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

    def _subworkflow(self, own: Fields, node: Node) -> dict[str, Any]:
        name = own.value("workflow")
        for other in [other for other in ("job", "approve", "payload") if other in node.value]:
            hint = "Use params." if other == "payload" else "Keep one of them, or make two steps."
            message = f'{other} is not an option of a step that runs workflow "{name[:64]}"'
            self._reading.problems.error(node.child(other).place, message, hint)
        self._refuse_work(own, (), f'that runs workflow "{name[:64]}"')
        return {"job": JobId(name), "is_subworkflow": True, "payload": own.value("params")}

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
        warn_of_unserved_queue(fields, options, self._queues, self._reading)
        _warn_of_notices(own, self._reading)
        spec, options = read_work(kind, fields, options, node, self._reading)
        if self._reading.problems.errors > known:
            return UNREADABLE
        return definition(kind, spec, options, fields, gate)

    def _gate(self, own: Fields, fields: Fields, kind: Kind, node: Node, around: Around) -> Gate | None:
        """Return the gate of the step. Without a timezone of its own it has that of the workflow."""
        if "timezone" in own and "depends_on" not in node.value:
            hint = "Name the jobs that it depends on in depends_on, or leave it out."
            self._reading.problems.error(own["timezone"].place, "timezone requires depends_on", hint)
        zone = own.get("timezone") or around.timezone
        known = fields if zone is None else Fields({**fields, "timezone": zone})
        job_id = step_job_id(around.workflow_id, own.value("name", ""))
        return read_gate(job_id, kind, own, known, node, self._reading)

    def _named(self, found: Found | None, own: Fields) -> dict[str, Any]:
        """Return a job of the file with the fields that the step gives anew: only those that may contain templates."""
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
            self._reading.problems.error(own[name].place, f"{own[name].name} is not an option of a step {which}", hint)

    def _approval(self, found: Found | None) -> Approval | None:
        if found is None or found.value is False:
            return None
        if found.value is True:
            return Approval()
        if not isinstance(found.value, dict):
            hint = 'Write true, or { timeout = "1d", default = "reject" }.'
            self._reading.problems.error(found.place, "approve must be true or a table", hint)
            return Approval()
        return approval_of(self._reading.table(found.node, APPROVAL).read)


def _warn_of_notices(own: Fields, reading: Reading) -> None:
    for name in [name for name in own.value("args", {}) if name in _NOTICES]:
        hint = "Use [notifications], which also covers executions of workflows, or make the step a job."
        reading.problems.warning(own["args"].place, f"{name} is not an option of a step, and is ignored", hint)


# -- edges


def _read_edges(step: Fields, reading: Reading) -> tuple[Edge, ...]:
    """Return the edges that lead to a step. An edge that cannot be read is left out."""
    rule = step.get("trigger_rule")
    if rule is not None and "after" not in step:
        hint = "Name the steps that it follows in after, or leave it out."
        reading.problems.error(rule.place, "trigger_rule requires after", hint)
    usual = ON_SUCCESS if rule is None else read_conditions([rule.value])
    nodes = _nodes(step["after"].node) if "after" in step else ()
    return tuple(edge for node in nodes for edge in _edge(node, usual, reading))


def _nodes(node: Node) -> Iterator[Node]:
    """Yield a table for each edge."""
    for item in node.children() if isinstance(node.value, list) else (node,):
        yield item if isinstance(item.value, dict) else item._replace(value={"step": item.value})


def _edge(node: Node, usual: Conditions, reading: Reading) -> Iterator[Edge]:
    fields = reading.table(node, EDGE)
    if "step" not in node.value:
        reading.problems.error(node.place, "the edge has no step", 'Write { step = "name", when = "failure" }.')
    if "step" in fields:
        yield Edge(parent=fields["step"].value, when=_conditions(fields, usual), test=_test(fields))


def _conditions(fields: Fields, usual: Conditions) -> Conditions:
    words = fields.value("when")
    if words is None:
        return usual
    return read_conditions(words) if words else frozenset()


def _test(fields: Fields) -> OutputTest | None:
    given = {name: found.value for name, found in fields.items() if name not in ("step", "when")}
    if "exit_code" in given:
        given["exit_code"] = tuple(given["exit_code"])
    test = OutputTest(**given)
    return None if test == OutputTest() else test
