"""The plan of an execution: a version of a workflow with its graph, and the definitions of its steps."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job.job import DEFAULT_PROJECT, Job, JobSpec
from foliot.domain.workflow.graph import Graph, graph_of
from foliot.domain.workflow.jobs import step_job_id
from foliot.domain.workflow.spec import Step, WorkflowSpec

APPROVAL_KIND: Final = "approval"


class Plan(NamedTuple):
    """A version of a workflow with its graph."""

    spec: WorkflowSpec
    graph: Graph
    steps: Mapping[str, Step]

    @classmethod
    def of(cls, spec: WorkflowSpec) -> "Plan":
        return cls(spec, graph_of(spec.steps), {step.name: step for step in spec.steps})


class ExecutionBody(msgspec.Struct, frozen=True):
    """The immutable data of an execution, stored when it is opened."""

    params: Mapping[str, Any]
    jobs: Mapping[JobId, JobSpec]
    """The jobs that steps name, as they were when the execution was opened."""


def job_of(step: Step, workflow_id: str) -> JobId:
    """Return the job id of a step's runs."""
    return step.job or step_job_id(workflow_id, step.name)


def definition_of(step: Step, jobs: Mapping[JobId, JobSpec]) -> JobSpec:
    """Return the definition of a step: its own, that of the job it names, or an approval."""
    if step.definition is not None:
        return step.definition
    if step.approval is not None:
        return JobSpec(kind=APPROVAL_KIND, spec={"default": step.approval.default})
    return jobs[step.job or JobId("")]


def known_definition(plan: Plan, name: str, jobs: Mapping[JobId, JobSpec]) -> JobSpec | None:
    """Return the definition of a named step. None: the step does not exist, or the job that it names had been
    deleted."""
    step = plan.steps.get(name)
    if step is None or (step.job is not None and step.job not in jobs):
        return None
    return definition_of(step, jobs)


def step_as_job(plan: Plan, jobs: Mapping[JobId, JobSpec], name: str, job_id: JobId, opened_at: Instant) -> Job | None:
    """Return the definition of a step as a job, or None if it has none."""
    spec = known_definition(plan, name, jobs)
    if spec is None:
        return None
    return Job(id=job_id, project=DEFAULT_PROJECT, spec=spec, revision=0, created_at=opened_at, updated_at=opened_at)
