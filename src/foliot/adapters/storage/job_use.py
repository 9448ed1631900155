"""What keeps a job from being renamed: an open execution, an opening or a waiting gate that names it."""

from foliot.adapters.storage.references import References
from foliot.domain.deploy.rename import Names
from foliot.domain.ids import JobId
from foliot.errors import JobInUse

ExecutionUse = tuple[str, int | None, str | None, JobId]
"""Open executions of a workflow (of this version, with this step, where given) name this job."""


def execution_uses(names: Names, references: References) -> list[ExecutionUse]:
    """Which open executions name one of these jobs by their workflow.

    A new id may be that of a deleted workflow, whose executions have not ended.
    """
    workflows = [(job_id, None, None, old) for old, new in names.items() for job_id in (old, new)]
    steps = [(old[:dot], None, old[dot + 1 :], old) for old in names for dot, letter in enumerate(old) if letter == "."]
    versions = [
        (workflow_id, version, None, reference.named)
        for (workflow_id, version), reference in references.versions.items()
    ]
    return [*workflows, *steps, *versions]


def opening_uses(names: Names, references: References) -> dict[str, JobId]:
    """Workflow -> job: an execution of the workflow would name the job."""
    named = {workflow_id: reference.named for (workflow_id, _), reference in references.versions.items()}
    return named | {job_id: old for old, new in names.items() for job_id in (new, old)}


def gate_uses(names: Names, references: References) -> dict[JobId, JobId]:
    """Job -> job: a run of the first whose gate waits names the second."""
    return {job_id: reference.named for job_id, reference in references.jobs.items()} | {old: old for old in names}


def used_by_execution(job_id: str, run_id: str, workflow_id: str) -> JobInUse:
    return JobInUse(job_id, f"execution {run_id} of workflow {workflow_id!a} is open", run_id)


def used_by_opening(job_id: str, run_id: str, workflow_id: str) -> JobInUse:
    return JobInUse(job_id, f"execution {run_id} of workflow {workflow_id!a} is starting", run_id)


def used_by_gate(job_id: str, run_id: str, gated_id: str) -> JobInUse:
    return JobInUse(job_id, f"run {run_id} of job {gated_id!a} waits for its gate", run_id)
