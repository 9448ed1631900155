"""Everything that is wrong with a workflow, found before anything is stored."""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any, Final

from foliot.domain.ids import JobId
from foliot.domain.job import LONGEST_NAME, JobSpec, check_name
from foliot.domain.payload import encode_payload
from foliot.domain.workflow import graph, template
from foliot.domain.workflow.graph import Precedence, graph_of
from foliot.domain.workflow.spec import GRAPH, PART_SOURCE, Step, WorkflowSpec
from foliot.errors import InvalidInput, InvalidWorkflow, suggest, with_hint

MAX_STEPS: Final = 100_000
TEMPLATED: Final[Mapping[str, Collection[str]]] = {
    "shell": ("env", "stdin"),
    "python": ("env",),
    "http": ("headers", "body"),
    "agent": ("env", "prompt"),
}
"""Which fields of a kind may hold templates: those that are data, none that a shell or a program reads as its text."""
_MADE_OF: Final = ("job", "definition", "approval")


def check_workflow(
    workflow_id: str, spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec], *, watchable: Collection[JobId] | None = None
) -> None:
    """Refuse a workflow with all its faults at once. `jobs` are those that exist, for steps that name one;
    `watchable` what gates of steps may look at besides this workflow, where that is known."""
    faults = [*_faults(workflow_id, spec, jobs), *_stranger_faults(workflow_id, spec, watchable)]
    if faults:
        raise InvalidWorkflow(workflow_id, faults)


def step_job_id(workflow_id: str, step: str) -> JobId:
    """The name under which the runs of a step are found."""
    return JobId(f"{workflow_id}.{step}")


def names_around(workflow_id: str, spec: WorkflowSpec) -> set[JobId]:
    """Jobs that matter to a workflow: those that bear its names, that its steps run, that their gates look at."""
    named = {step.job for step in spec.steps if step.job is not None}
    return _own_names(workflow_id, spec) | named | {name for step in spec.steps for name in _watched(step)}


def _own_names(workflow_id: str, spec: WorkflowSpec) -> set[JobId]:
    return {JobId(workflow_id), *(step_job_id(workflow_id, step.name) for step in spec.steps)}


def _watched(step: Step) -> tuple[JobId, ...]:
    """The jobs that the gate of a step looks at."""
    gate = None if step.definition is None else step.definition.gate
    return () if gate is None else gate.depends_on


def _faults(workflow_id: str, spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[str]:
    yield from _refusal(lambda: check_name("workflow_id", workflow_id))
    taken = jobs.get(JobId(workflow_id))
    if taken is not None and taken.kind != GRAPH:
        yield f'a job "{workflow_id[:64]}" exists already'
    yield from _refusal(spec.options.check)
    yield from _refusal(lambda: encode_payload(spec.params, what="params"))
    if len(spec.steps) > MAX_STEPS:
        yield f"a workflow has at most {MAX_STEPS} steps, not {len(spec.steps)}"
        return
    yield from graph.faults_of(spec.steps)
    for step in spec.steps:
        yield from (f'step "{step.name[:64]}": {fault}' for fault in _step_faults(workflow_id, step, jobs))
    yield from _template_faults(spec, jobs)


def _step_faults(workflow_id: str, step: Step, jobs: Mapping[JobId, JobSpec]) -> Iterator[str]:
    yield from _refusal(lambda: check_name("step", step.name))
    yield from _refusal(lambda: encode_payload(step.payload))
    given = [name for name in _MADE_OF if getattr(step, name) is not None]
    if len(given) != 1:
        yield "a step is one thing: a job of its own, a job that exists, or an approval"
    if step.job is not None and (step.job == workflow_id or _is_workflow(jobs.get(step.job))):
        yield f'"{step.job}" is a workflow and cannot be a step. Name a job.'
    elif step.job is not None and step.job not in jobs:
        yield with_hint(f'job "{step.job}" does not exist', suggest(step.job, jobs))
    if step.definition is not None:
        yield from _definition_faults(step_job_id(workflow_id, step.name), step.definition, jobs)


def _definition_faults(job_id: JobId, definition: JobSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[str]:
    yield from _refusal(definition.check)
    gate = definition.gate
    if gate is not None:
        yield from _refusal(lambda: gate.check(job_id))
    if job_id in jobs and jobs[job_id].source != PART_SOURCE:
        yield f'a job "{job_id}" exists already'
    if len(job_id) > LONGEST_NAME:
        hint = "Give the step or the workflow a shorter name."
        yield f"{job_id[:64]!a}... has more than {LONGEST_NAME} characters. {hint}"


def _is_workflow(job: JobSpec | None) -> bool:
    return job is not None and job.kind == GRAPH


def _stranger_faults(workflow_id: str, spec: WorkflowSpec, watchable: Collection[JobId] | None) -> Iterator[str]:
    """Gates that look at what does not exist."""
    if watchable is None:
        return
    known = _own_names(workflow_id, spec).union(watchable)
    for step in spec.steps:
        for name in _watched(step):
            if name not in known:
                fact = f'step "{step.name[:64]}": job "{name[:64]}" does not exist'
                yield with_hint(fact, suggest(name, watchable))


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
    if definition is None:
        return
    allowed = TEMPLATED.get(definition.runner, ())
    for name in step.overlay.keys() - set(allowed):
        way = f"put it into {', '.join(allowed)}, and let the job read that" if allowed else "use the payload"
        yield f"a template cannot stand in {name}; {way}"


def _refusal(check: Any) -> Iterator[str]:
    """The complaint of a check that raises, if it does."""
    try:
        check()
    except InvalidInput as error:
        yield with_hint(error.message, error.hint)
