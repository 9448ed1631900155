"""The check of a workflow: finds all its problems before anything is stored."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import JobId
from foliot.domain.job.job import LONGEST_NAME, JobSpec, check_name
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.payload import encode_payload
from foliot.domain.workflow import graph, template
from foliot.domain.workflow.graph import Precedence, graph_of
from foliot.domain.workflow.jobs import job_names, own_names, step_job_id, watched_by
from foliot.domain.workflow.spec import GRAPH, PART_SOURCE, Step, WorkflowSpec
from foliot.errors import InvalidInput, InvalidWorkflow, Problem, suggest

MAX_STEPS: Final = 100_000
TEMPLATED: Final[Mapping[str, Collection[str]]] = {
    "shell": ("env", "stdin"),
    "python": ("env",),
    "http": ("headers", "body"),
    "agent": ("env", "prompt"),
    FANOUT: ("items", "env", "stdin", "headers", "body", "prompt"),
}
"""The fields of a kind that may contain templates: only data, never text that a shell or a program executes."""
_OUTPUT_OPTIONAL: Final = frozenset({"shell", "http", "agent"})
"""Kinds whose runs have an output only if the field `output` is set."""
_STEP_KINDS: Final = ("job", "definition", "approval")
_NO_SUCH_JOB: Final = "Define it as well, or name an existing job: foliot jobs."
_NO_SUCH_WORKFLOW: Final = "Define it as well, or name an existing workflow: foliot workflows."
_NO_NAMES: Final[Mapping[JobId, str]] = {}


def check_workflow(
    workflow_id: str,
    spec: WorkflowSpec,
    jobs: Mapping[JobId, JobSpec],
    *,
    watchable: Collection[JobId] | None = None,
    taken: Mapping[JobId, str] = _NO_NAMES,
) -> None:
    """Raise InvalidWorkflow with all problems of a workflow, if there are any.

    `jobs` are the existing jobs, for steps that name one. `watchable` are the jobs that gates of steps may depend on
    besides this workflow; None: not known. `taken` are the names that another workflow or one of its steps has, see
    `job_names`.
    """
    free = {name: job for name, job in jobs.items() if name not in taken} if taken else jobs
    problems = [*_name_problems(workflow_id, spec, taken), *_problems(workflow_id, spec, free)]
    problems += _gate_problems(workflow_id, spec, watchable)
    if problems:
        raise InvalidWorkflow(workflow_id, problems)


def warnings_about(spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[Problem]:
    """Yield a warning for each reference to the output of a step that has none, and whose output is null."""
    silent = {step.name for step in spec.steps if _is_silent(step, jobs)}
    for step in spec.steps:
        used = [edge.parent for edge in step.after if edge.test is not None and edge.test.reads_output]
        read = [found for _, found in template.references((step.payload, step.overlay)) if found is not None]
        used += [found.name for found in read if found.source == "steps" and found.rest[:1] == ("output",)]
        for name in dict.fromkeys(used):
            if name in silent:
                hint = f'Set output = "json", "text" or "file" in step "{name}".'
                yield from _about(step, [Problem.warning(f'step "{name}" has no output', hint)])


def _problems(workflow_id: str, spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[Problem]:
    yield from _refusal(lambda: check_name("workflow_id", workflow_id))
    taken = jobs.get(JobId(workflow_id))
    if taken is not None and taken.kind != GRAPH:
        yield Problem.error(f'a job "{workflow_id[:64]}" already exists', "Give the workflow another id.")
    yield from _refusal(spec.options.check)
    yield from _refusal(lambda: encode_payload(spec.params, what="params"))
    if len(spec.steps) > MAX_STEPS:
        message = f"a workflow has at most {MAX_STEPS} steps, not {len(spec.steps)}"
        yield Problem.error(message, "Split it into several workflows.")
        return
    yield from graph.problems_of(spec.steps)
    for step in spec.steps:
        yield from _about(step, _step_problems(workflow_id, step, jobs))
    yield from _template_problems(spec, jobs)


def _name_problems(workflow_id: str, spec: WorkflowSpec, taken: Mapping[JobId, str]) -> Iterator[Problem]:
    """Yield a problem for each name that is in use: two definitions would share one job and its history."""
    hint = "Give one of them another name."
    for name, what in job_names(workflow_id, spec).items():
        if name in taken:
            yield Problem.error(f'{what} has the same name as {taken[name]}: "{name[:128]}"', hint)


def _step_problems(workflow_id: str, step: Step, jobs: Mapping[JobId, JobSpec]) -> Iterator[Problem]:
    yield from _refusal(lambda: check_name("step", step.name))
    yield from _refusal(lambda: encode_payload(step.payload))
    given = [name for name in _STEP_KINDS if getattr(step, name) is not None]
    if len(given) != 1:
        hint = "Give exactly one of these."
        yield Problem.error("a step is either a job of its own, an existing job, or an approval", hint)
    if step.job is not None:
        yield from _named_problems(workflow_id, step, step.job, jobs)
    definition = step.definition or jobs.get(step.job or JobId(""))
    if definition is not None and definition.options.queue == TREES_QUEUE and definition.options.retry.retries:
        hint = "Remove retries here, and set them on the runs that it starts."
        yield Problem.error("a step that starts other runs cannot have retries", hint)
    if step.definition is not None:
        yield from _definition_problems(step_job_id(workflow_id, step.name), step.definition, jobs)


def _named_problems(workflow_id: str, step: Step, name: JobId, jobs: Mapping[JobId, JobSpec]) -> Iterator[Problem]:
    """Yield the problems of the job or workflow that a step names."""
    named = jobs.get(name)
    if name == workflow_id:
        yield Problem.error(f'"{name}" would start itself without end', "Name another workflow or a job.")
    elif step.is_subworkflow and not _is_workflow(named):
        known = [one for one, spec in jobs.items() if _is_workflow(spec)]
        yield Problem.error(f'workflow "{name}" does not exist', suggest(name, known, otherwise=_NO_SUCH_WORKFLOW))
    elif not step.is_subworkflow and _is_workflow(named):
        yield Problem.error(f'"{name}" is a workflow, not a job', f'Use workflow = "{name}".')
    elif named is None:
        yield Problem.error(f'job "{name}" does not exist', suggest(name, jobs, otherwise=_NO_SUCH_JOB))
    elif step.is_subworkflow:
        yield from _param_problems(step, named)


def _param_problems(step: Step, workflow: JobSpec) -> Iterator[Problem]:
    """Yield a problem for each parameter that the workflow does not have."""
    known = workflow.payload_template or {}
    for name in (step.payload or {}).keys() - known.keys():
        hint = suggest(name, known, otherwise=f"It has: {', '.join(known)}." if known else "It has no parameters.")
        yield Problem.error(f'workflow "{step.job}" has no parameter "{name[:64]}"', hint)


def _definition_problems(job_id: JobId, definition: JobSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[Problem]:
    yield from _refusal(definition.check)
    gate = definition.gate
    if gate is not None:
        yield from _refusal(lambda: gate.check(job_id))
    if job_id in jobs and jobs[job_id].source != PART_SOURCE:
        yield Problem.error(f'a job "{job_id}" already exists', "Give the step another name.")
    if len(job_id) > LONGEST_NAME:
        hint = "Give the step or the workflow a shorter name."
        yield Problem.error(f"{job_id[:64]!a}... has more than {LONGEST_NAME} characters", hint)


def _is_workflow(job: JobSpec | None) -> bool:
    return job is not None and job.kind == GRAPH


def _gate_problems(workflow_id: str, spec: WorkflowSpec, watchable: Collection[JobId] | None) -> Iterator[Problem]:
    """Yield a problem for each gate that depends on a job that does not exist."""
    if watchable is None:
        return
    known = own_names(workflow_id, spec).union(watchable)
    for step in spec.steps:
        for name in watched_by(step):
            if name not in known:
                hint = suggest(name, watchable, otherwise=_NO_SUCH_JOB)
                yield from _about(step, [Problem.error(f'job "{name[:64]}" does not exist', hint)])


def _template_problems(spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[Problem]:
    order = Precedence(graph_of(spec.steps))
    names = [step.name for step in spec.steps]
    for step in spec.steps:
        is_before = partial(order.is_before, later=step.name)
        given = (step.payload, step.overlay)
        yield from _about(step, template.problems_of(given, is_before=is_before, steps=names, params=spec.params))
        yield from _about(step, _misplaced(step, jobs))


def _is_silent(step: Step, jobs: Mapping[JobId, JobSpec]) -> bool:
    definition = step.definition or jobs.get(step.job or JobId(""))
    if definition is None or definition.runner not in _OUTPUT_OPTIONAL:
        return False
    return str({**definition.spec, **step.spec}.get("output", "none")) == "none"


def _misplaced(step: Step, jobs: Mapping[JobId, JobSpec]) -> Iterator[Problem]:
    """Yield a problem for each field that must not contain a template, because its text is executed."""
    definition = step.definition or jobs.get(step.job or JobId(""))
    if definition is None:
        return
    allowed = TEMPLATED.get(definition.runner, ())
    for name in step.overlay.keys() - set(allowed):
        hint = f"Put it into {' or '.join(allowed)}, and let the job read that." if allowed else "Use the payload."
        yield Problem.error(f"a template is not allowed in {name}", hint)


def _refusal(check: Any) -> Iterator[Problem]:
    """Yield the error of a check as a problem, if it raises one."""
    try:
        check()
    except InvalidInput as error:
        yield Problem.error(error.message, error.hint)


def _about(step: Step, problems: Iterable[Problem]) -> Iterator[Problem]:
    for problem in problems:
        yield problem._replace(message=f'step "{step.name[:64]}": {problem.message}')
