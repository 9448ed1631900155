"""The jobs behind a workflow: one for its executions, and one for each step that does something of its own.

So a workflow has schedules, limits, history and an owner like any job, and a step can be run alone.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.tree.tree import TREES_QUEUE
from foliot.domain.workflow.spec import GRAPH as GRAPH
from foliot.domain.workflow.spec import PART_SOURCE as PART_SOURCE
from foliot.domain.workflow.spec import Step, WorkflowSpec


def jobs_of(workflow_id: str, version: int, spec: WorkflowSpec) -> dict[JobId, JobSpec]:
    own = {
        step_job_id(workflow_id, step.name): replace(step.definition, source=PART_SOURCE)
        for step in spec.steps
        if step.definition is not None
    }
    execution = JobSpec(
        kind=GRAPH,
        spec={"version": version},
        description=spec.description,
        payload_template=spec.params or None,
        options=replace(spec.options, queue=TREES_QUEUE),
        enabled=spec.enabled,
        source=spec.source,
        owner=spec.owner,
        tags=spec.tags,
    )
    return {JobId(workflow_id): execution, **own}


def jobs_of_all(workflows: Mapping[str, WorkflowSpec]) -> set[JobId]:
    """The names of the jobs behind workflows."""
    return {name for workflow_id, spec in workflows.items() for name in jobs_of(workflow_id, 0, spec)}


def is_part_of_workflow(spec: JobSpec) -> bool:
    return spec.kind == GRAPH or spec.source == PART_SOURCE


def step_job_id(workflow_id: str, step: str) -> JobId:
    """The name under which the runs of a step are found."""
    return JobId(f"{workflow_id}.{step}")


def related_jobs(workflow_id: str, spec: WorkflowSpec) -> set[JobId]:
    """Jobs that matter to a workflow: those that bear its names, that its steps run, that their gates look at."""
    named = {step.job for step in spec.steps if step.job is not None}
    return own_names(workflow_id, spec) | named | {name for step in spec.steps for name in watched_by(step)}


def job_names(workflow_id: str, spec: WorkflowSpec) -> dict[JobId, str]:
    """The names under which a workflow and its steps run, each with what bears it; none of jobs that steps name."""
    steps = {
        step_job_id(workflow_id, step.name): f'step "{step.name[:64]}" of workflow "{workflow_id[:64]}"'
        for step in spec.steps
        if step.job is None
    }
    return {**steps, JobId(workflow_id): f'workflow "{workflow_id[:64]}"'}


def possible_conflicts(workflow_id: str, spec: WorkflowSpec) -> set[str]:
    """Ids of other workflows whose steps may have names like these: step c of a.b, and step b.c of a."""
    names = job_names(workflow_id, spec)
    beginnings = {name[:end] for name in names for end, letter in enumerate(name) if letter == "."}
    return beginnings - {workflow_id}


def own_names(workflow_id: str, spec: WorkflowSpec) -> set[JobId]:
    return {JobId(workflow_id), *(step_job_id(workflow_id, step.name) for step in spec.steps)}


def watched_by(step: Step) -> tuple[JobId, ...]:
    """The jobs that the gate of a step looks at."""
    gate = None if step.definition is None else step.definition.gate
    return () if gate is None else gate.depends_on
