"""The jobs of a workflow and their names: one for its executions, and one for each step with its own definition.

So a workflow has schedules, limits, history and an owner like any job, and a step can be run alone.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.workflow.spec import GRAPH as GRAPH
from foliot.domain.workflow.spec import PART_SOURCE as PART_SOURCE
from foliot.domain.workflow.spec import Step, WorkflowSpec


def jobs_of(workflow_id: str, version: int, spec: WorkflowSpec) -> dict[JobId, JobSpec]:
    """Return the jobs of a workflow."""
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
    """Return the names of the jobs of several workflows."""
    return {name for workflow_id, spec in workflows.items() for name in jobs_of(workflow_id, 0, spec)}


def is_part_of_workflow(spec: JobSpec) -> bool:
    return spec.kind == GRAPH or spec.source == PART_SOURCE


def step_job_id(workflow_id: str, step: str) -> JobId:
    """Return the job id of a step's runs."""
    return JobId(f"{workflow_id}.{step}")


def related_jobs(workflow_id: str, spec: WorkflowSpec) -> set[JobId]:
    """Return the jobs that a check of a workflow needs: its own names, jobs that its steps name, and dependencies of
    gates."""
    named = {step.job for step in spec.steps if step.job is not None}
    return own_names(workflow_id, spec) | named | {name for step in spec.steps for name in watched_by(step)}


def job_names(workflow_id: str, spec: WorkflowSpec) -> dict[JobId, str]:
    """Return the job names of a workflow and its steps, each with a description of the workflow or step. Jobs that
    steps name are not included."""
    steps = {
        step_job_id(workflow_id, step.name): f'step "{step.name[:64]}" of workflow "{workflow_id[:64]}"'
        for step in spec.steps
        if step.job is None
    }
    return {**steps, JobId(workflow_id): f'workflow "{workflow_id[:64]}"'}


def possible_conflicts(workflow_id: str, spec: WorkflowSpec) -> set[str]:
    """Return ids of workflows whose steps may have the same job names: step c of a.b, and step b.c of a."""
    names = job_names(workflow_id, spec)
    beginnings = {name[:end] for name in names for end, letter in enumerate(name) if letter == "."}
    return beginnings - {workflow_id}


def own_names(workflow_id: str, spec: WorkflowSpec) -> set[JobId]:
    """Return the job names of a workflow and all its steps, including steps that name a job."""
    return {JobId(workflow_id), *(step_job_id(workflow_id, step.name) for step in spec.steps)}


def watched_by(step: Step) -> tuple[JobId, ...]:
    """Return the jobs that the gate of a step depends on."""
    gate = None if step.definition is None else step.definition.gate
    return () if gate is None else gate.depends_on
