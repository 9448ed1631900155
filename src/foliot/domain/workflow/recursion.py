"""Recursion: a workflow that would start itself, through steps that are workflows or fanouts."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from foliot.domain.chain.spec import CHAIN
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.graph import find_cycles
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import Problem


def jobs_started_by(workflow: WorkflowSpec) -> set[JobId]:
    """Return the jobs and workflows that executions start runs of."""
    own = [step.definition for step in workflow.steps if step.definition is not None]
    named = {step.job for step in workflow.steps if step.job is not None}
    return named.union(*(jobs_started_by_job(definition) for definition in own))


def jobs_started_by_job(job: JobSpec) -> set[JobId]:
    """Return the jobs and workflows that the children of a fanout, or the steps of a chain, are runs of."""
    if job.kind == CHAIN:
        return jobs_of_stages(job)
    return {JobId(job.spec["job"])} if job.kind == FANOUT and job.spec.get("job") else set()


def jobs_of_stages(chain: JobSpec) -> set[JobId]:
    """Return the registered jobs that the stages of a chain run."""
    stages = chain.spec.get("stages", {}).values()
    return {JobId(stage["job"]) for stage in stages if stage.get("job")}


def recursion_in(started: Mapping[JobId, AbstractSet[JobId]]) -> dict[JobId, Problem]:
    """Return a problem for each workflow or fanout that would start itself through others. `started`: what each of them
    starts."""
    known: dict[str, list[JobId]] = {name: sorted(started.keys() & names - {name}) for name, names in started.items()}
    found: dict[JobId, Problem] = {}
    for cycle in find_cycles(known):
        path = " -> ".join(reversed(cycle))
        problem = Problem.error(f"it would start itself without end: {path}", "Remove one of these steps.")
        found |= dict.fromkeys(map(JobId, cycle), problem)
    return found
