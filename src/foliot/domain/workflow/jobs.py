"""The jobs behind a workflow: one for its executions, and one for each step that does something of its own.

So a workflow has schedules, limits, history and an owner like any job, and a step can be run alone.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.tree.tree import TREES_QUEUE
from foliot.domain.workflow.check import step_job_id
from foliot.domain.workflow.spec import GRAPH as GRAPH
from foliot.domain.workflow.spec import PART_SOURCE as PART_SOURCE
from foliot.domain.workflow.spec import WorkflowSpec


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
