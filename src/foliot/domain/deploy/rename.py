"""Renaming a job, and the names that change with its id.

Schedules that are named after the job (`<job id>:<name>`) are renamed. The H of a cron expression and the jitter are
still derived from the former name: a rename moves no fire time, and the existing ledger stays valid.

Definitions that name the job name the new id: gates, and the steps of workflows in every version.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.workflow.spec import Step, WorkflowSpec

Names = Mapping[JobId, JobId]
"""Former id -> id of all jobs that are renamed together."""


class Rename(NamedTuple):
    old: JobId
    new: JobId


def possible_renames(renames: Mapping[JobId, JobId], existing: Collection[JobId]) -> list[Rename]:
    """Return the renames whose old id exists and whose new id is free, in an order in which they can be applied.

    A new id is also free if its job is renamed away before. Two jobs that swap ids are not renamed: applied again, the
    renames would swap them back. Once all new ids exist, no rename is left.
    """
    taken = set(existing)
    waiting = {old: new for old, new in renames.items() if old in taken and old != new}
    done: list[Rename] = []
    while free := [Rename(old, new) for old, new in waiting.items() if new not in taken]:
        rename = free[0]
        del waiting[rename.old]
        taken.remove(rename.old)
        taken.add(rename.new)
        done.append(rename)
    return done


def aside(workflow_id: JobId, revision: int) -> str:
    """Return the id that a deleted workflow, with its versions and executions, gets when its id is reused.

    Users cannot create such an id, and it is unique because revisions are.
    """
    return f"{workflow_id}~{revision}"


def renamed_schedule_id(schedule_id: ScheduleId, rename: Rename) -> ScheduleId:
    """Return the new id of a schedule that is named after the job. Other schedules keep their id."""
    old, new = rename
    is_named_after = f"{schedule_id}:".startswith(f"{old}:")
    return ScheduleId(new + schedule_id[len(old) :]) if is_named_after else schedule_id


def renamed_spec(spec: ScheduleSpec, schedule_id: ScheduleId, rename: Rename) -> ScheduleSpec:
    """Return the specification of the schedule `schedule_id` after the rename."""
    job_id = rename.new if spec.job_id == rename.old else spec.job_id
    workflow_id = rename.new if spec.workflow_id == rename.old else spec.workflow_id
    gets_new_name = renamed_schedule_id(schedule_id, rename) != schedule_id
    seed = spec.seed or (schedule_id if gets_new_name else "")
    return replace(spec, job_id=job_id, workflow_id=workflow_id, seed=seed)


def jobs_named_by_job(spec: JobSpec) -> set[str]:
    """The ids of jobs that a definition names."""
    return set() if spec.gate is None else {*spec.gate.depends_on}


def jobs_named_by_workflow(spec: WorkflowSpec) -> set[str]:
    """Return the ids of jobs that the steps of a version and their gates name."""
    named: set[str] = {step.job for step in spec.steps if step.job is not None}
    return named.union(*(jobs_named_by_job(step.definition) for step in spec.steps if step.definition is not None))


def renamed_job(spec: JobSpec, names: Names) -> JobSpec:
    """A definition, as it is when jobs that its gate looks at have their new ids."""
    if spec.gate is None:
        return spec
    depends_on = tuple(names.get(name, name) for name in spec.gate.depends_on)
    return replace(spec, gate=replace(spec.gate, depends_on=depends_on))


def renamed_workflow(spec: WorkflowSpec, names: Names) -> WorkflowSpec:
    """A version of a workflow, as it is when jobs that its steps name have their new ids. Its steps keep their names,
    by which executions know them."""
    return replace(spec, steps=tuple(_renamed_step(step, names) for step in spec.steps))


def _renamed_step(step: Step, names: Names) -> Step:
    job = None if step.job is None else names.get(step.job, step.job)
    definition = None if step.definition is None else renamed_job(step.definition, names)
    return replace(step, job=job, definition=definition)


def limit_prefix(job_id: JobId) -> str:
    """Return the text with which the limit of a job begins in the stored limits of a run. It occurs nowhere else in
    them."""
    return f'["job:{job_id}",'
