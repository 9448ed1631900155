"""Everything that is wrong with a workflow, found before anything is stored."""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any, Final

from foliot.domain.ids import JobId
from foliot.domain.job import JobSpec, check_name
from foliot.domain.payload import encode_payload
from foliot.domain.workflow import graph, template
from foliot.domain.workflow.graph import Precedence, graph_of
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.errors import InvalidInput, InvalidWorkflow, suggest

MAX_STEPS: Final = 100_000
TEMPLATED: Final[Mapping[str, Collection[str]]] = {
    "shell": ("env", "stdin"),
    "python": ("env",),
    "http": ("headers", "body"),
    "agent": ("env", "prompt"),
}
"""Which fields of a kind may hold templates: those that are data, none that a shell or a program reads as its text."""
_MADE_OF: Final = ("job", "definition", "approval")


def check_workflow(workflow_id: str, spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec]) -> None:
    """Refuse a workflow with all its faults at once. `jobs` are those that exist, for steps that name one."""
    faults = [*_faults(workflow_id, spec, jobs)]
    if faults:
        raise InvalidWorkflow(workflow_id, faults)


def step_job_id(workflow_id: str, step: str) -> JobId:
    """The name under which the runs of a step are found."""
    return JobId(f"{workflow_id}.{step}")


def _faults(workflow_id: str, spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[str]:
    yield from _refusal(lambda: check_name("workflow_id", workflow_id))
    if JobId(workflow_id) in jobs and all(step.job != workflow_id for step in spec.steps):
        yield f'a job "{workflow_id[:64]}" exists already'
    yield from _refusal(spec.options.check)
    yield from _refusal(lambda: encode_payload(spec.params, what="params"))
    if len(spec.steps) > MAX_STEPS:
        yield f"a workflow has at most {MAX_STEPS} steps, not {len(spec.steps)}"
        return
    structural = [*graph.faults_of(spec.steps)]
    yield from structural
    for step in spec.steps:
        yield from (f'step "{step.name[:64]}": {fault}' for fault in _step_faults(workflow_id, step, jobs))
    if not structural:
        yield from _template_faults(spec, jobs)


def _step_faults(workflow_id: str, step: Step, jobs: Mapping[JobId, JobSpec]) -> Iterator[str]:
    yield from _refusal(lambda: check_name("step", step.name))
    given = [name for name in _MADE_OF if getattr(step, name) is not None]
    if len(given) != 1:
        yield "a step is one thing: a job of its own, a job that exists, or an approval"
    if step.job is not None and step.job not in jobs:
        yield f'job "{step.job}" does not exist. {suggest(step.job, jobs)}'.strip()
    if step.definition is not None:
        yield from _refusal(step.definition.check)
        if step_job_id(workflow_id, step.name) in jobs:
            yield f'a job "{step_job_id(workflow_id, step.name)}" exists already'


def _template_faults(spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[str]:
    order = Precedence(graph_of(spec.steps))
    names = [step.name for step in spec.steps]
    for step in spec.steps:
        is_before = partial(order.is_before, later=step.name)
        faults = template.faults_of((step.payload, step.overlay), is_before=is_before, steps=names, params=spec.params)
        yield from (f'step "{step.name}": {fault}' for fault in (*faults, *_misplaced(step, jobs)))


def _misplaced(step: Step, jobs: Mapping[JobId, JobSpec]) -> Iterator[str]:
    """Fields that a run may not write anew: a template in them would be read as something else than data."""
    definition = step.definition or jobs.get(step.job or JobId(""))
    allowed = TEMPLATED.get(definition.runner, ()) if definition is not None else ()
    for name in step.overlay.keys() - set(allowed):
        way = f"put it into {', '.join(allowed)}, and let the job read that" if allowed else "use the payload"
        yield f"a template cannot stand in {name}; {way}"


def _refusal(check: Any) -> Iterator[str]:
    """The complaint of a check that raises, if it does."""
    try:
        check()
    except InvalidInput as error:
        yield str(error).replace("\n ", "")
