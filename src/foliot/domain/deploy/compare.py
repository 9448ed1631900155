"""Compares a set of declared definitions with the stored ones, and returns the changes. Nothing is written.

    declared            stored                      what happens to a job
    yes                 no                          created
    yes                 yes, different              changed; its history and its schedules stay
    yes                 yes, equal                  unchanged
    yes (was x)         x, but not this id          renamed, with its history and its schedules
    no                  yes, of the same source     removed: disabled, its schedules deleted, its history kept
    yes                 yes, of another owner       refused

A workflow is compared in the same way, by its newest version. The jobs of a workflow and its steps are stored and
renamed with it, and are not compared as definitions.

Changes are applied in this order: rename, put jobs, put workflows, put schedules, delete schedules. Whether a schedule
is paused is not part of its definition and does not change. A comparison after the changes are applied finds none.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from foliot.domain.deploy.deployment import (
    OWNERS,
    Action,
    Change,
    Changes,
    Current,
    Declared,
    Name,
    Refusal,
    ScheduleChange,
)
from foliot.domain.deploy.difference import Difference, differences
from foliot.domain.deploy.rename import (
    Names,
    Rename,
    possible_renames,
    renamed_job,
    renamed_schedule_id,
    renamed_spec,
    renamed_workflow,
)
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import canonical
from foliot.domain.workflow.dependencies import unit_id
from foliot.domain.workflow.jobs import GRAPH, PART_SOURCE, is_part_of_workflow, step_job_id
from foliot.domain.workflow.spec import WorkflowSpec

Spec = TypeVar("Spec", JobSpec, WorkflowSpec)
"""The kinds of definitions that are disabled, not deleted, when they are removed."""


def compare(declared: Declared, current: Current) -> Changes:
    """Return the changes that turn `current` into `declared`."""
    renames = _with_parts(possible_renames(declared.renames, current.jobs.keys()), current)
    moved, former = _renamed(current, renames)
    moved = _with_new_names(moved, dict(renames))
    names = {new: old for old, new in renames}
    return Changes(
        jobs=tuple(_changes(declared.jobs, _own_jobs(declared, moved), names, declared.source)),
        workflows=tuple(_changes(declared.workflows, moved.workflows, names, declared.source)),
        schedules=tuple(_schedule_changes(declared, moved, former)),
        refusals=tuple(_refusals(declared, current, moved, renames)),
        renames=dict(renames),
        apart=_kept_apart(declared, moved),
    )


def _with_parts(renames: Iterable[Rename], current: Current) -> list[Rename]:
    """Return the renames with those that follow: of the jobs of a workflow's steps, in all versions, and of the
    workflow that a job leads."""
    wanted = dict(renames)
    led = {JobId(unit_id(old)): JobId(unit_id(new)) for old, new in renames if _is_unit(unit_id(old), current)}
    steps = {
        step_job_id(old, name): step_job_id(new, name)
        for old, new in renames
        if old in current.workflows
        for name in _steps_under(old, current)
    }
    # Workflows first: after that, no run is started under the old names of their steps.
    return possible_renames({**wanted, **led, **steps}, current.jobs.keys())


def _is_unit(workflow_id: str, current: Current) -> bool:
    """Whether there is such a workflow, and Foliot made it of dependencies."""
    job = current.jobs.get(JobId(workflow_id))
    return job is not None and job.source == "foliot"


def _steps_under(workflow_id: JobId, current: Current) -> Iterator[str]:
    """Yield the names of its steps, also of earlier versions. `a.b.c` belongs to the workflow `a.b` rather than to `a`,
    unless `a` has a step `b.c`."""
    mine = f"{workflow_id}."
    longer = tuple(f"{other}." for other in current.workflows if other.startswith(mine))
    own = {step_job_id(workflow_id, step.name) for step in current.workflows[workflow_id].steps}
    for name, spec in current.jobs.items():
        is_ours = name in own or not name.startswith(longer)
        if spec.source == PART_SOURCE and name.startswith(mine) and is_ours:
            yield name.removeprefix(mine)


def _renamed(current: Current, renames: Iterable[Rename]) -> tuple[Current, dict[ScheduleId, ScheduleId]]:
    """Return what is stored after the renames, and the former ids of renamed schedules by their new ids."""
    jobs, workflows, schedules = dict(current.jobs), dict(current.workflows), dict(current.schedules)
    former: dict[ScheduleId, ScheduleId] = {}
    for rename in renames:
        jobs[rename.new] = jobs.pop(rename.old)
        if rename.old in workflows:
            workflows[rename.new] = workflows.pop(rename.old)
        for old in [name for name, spec in schedules.items() if spec.target == rename.old]:
            new = renamed_schedule_id(old, rename)
            schedules[new] = renamed_spec(schedules.pop(old), old, rename)
            if new != old:
                former[new] = old
    paused = frozenset(name for name in schedules if former.get(name, name) in current.paused)
    return replace(current, jobs=jobs, workflows=workflows, schedules=schedules, paused=paused), former


def _with_new_names(current: Current, names: Names) -> Current:
    """Return what is stored, with the new ids wherever a gate or a step names a job."""
    if not names:
        return current
    jobs = {job_id: renamed_job(spec, names) for job_id, spec in current.jobs.items()}
    workflows = {name: renamed_workflow(spec, names) for name, spec in current.workflows.items()}
    return replace(current, jobs=jobs, workflows=workflows)


def _kept_apart(declared: Declared, moved: Current) -> dict[JobId, JobId]:
    return {
        old: new
        for old, new in declared.renames.items()
        if old in moved.jobs and new in moved.jobs and old not in declared.jobs and old not in declared.workflows
    }


def _changes(
    declared: Mapping[Name, Spec], current: Mapping[Name, Spec], former: Mapping[JobId, JobId], source: str
) -> Iterator[Change[Name, Spec]]:
    for name in sorted(declared.keys() | current.keys()):
        before, after = current.get(name), declared.get(name)
        if after is not None:
            fields = () if before is None else differences(before, after)
            was = former.get(JobId(name))
            yield Change(name, _action(before is not None, fields, was), after, fields, was)
        elif before is not None and before.source == source and before.enabled:
            gone = replace(before, enabled=False)
            yield Change(name, Action.REMOVED, gone, differences(before, gone))


def _own_jobs(declared: Declared, current: Current) -> dict[JobId, JobSpec]:
    """Return the stored jobs that are not part of a workflow, or that are declared as jobs."""
    jobs = current.jobs.items()
    return {name: spec for name, spec in jobs if name in declared.jobs or not is_part_of_workflow(spec)}


def _schedule_changes(
    declared: Declared, current: Current, former: Mapping[ScheduleId, ScheduleId]
) -> Iterator[ScheduleChange]:
    for schedule_id in sorted(declared.schedules.keys() | current.schedules.keys()):
        before, after = current.schedules.get(schedule_id), declared.schedules.get(schedule_id)
        paused, was = schedule_id in current.paused, former.get(schedule_id)
        if after is not None:
            wanted = canonical(after, schedule_id)
            fields = () if before is None else differences(before, wanted)
            if schedule_id not in declared.past or (before is not None and not fields):
                action = _action(before is not None, fields, was)
                yield ScheduleChange(schedule_id, action, wanted, fields, was, paused)
                continue
        if before is not None and before.source == declared.source:
            yield ScheduleChange(schedule_id, Action.REMOVED, before, (), was, paused)


def _action(exists: bool, fields: tuple[Difference, ...], was: str | None) -> Action:
    if not exists:
        return Action.CREATED
    if was is not None:
        return Action.RENAMED
    return Action.CHANGED if fields else Action.UNCHANGED


def _refusals(declared: Declared, current: Current, moved: Current, renames: Iterable[Rename]) -> Iterator[Refusal]:
    stage = current
    for rename in renames:
        if rename.old in declared.renames and rename.old in current.jobs:
            what = "workflow" if rename.old in current.workflows else "job"
            yield from _owned_elsewhere(what, rename.old, current.jobs[rename.old].source, declared.source)
        yield from _name_taken(rename, stage)
        stage, _ = _renamed(stage, [rename])
    done = {rename.new for rename in renames}
    for job_id in sorted(declared.jobs.keys() & moved.jobs.keys() - done):
        yield from _owned_elsewhere("job", job_id, moved.jobs[job_id].source, declared.source)
    for workflow_id in sorted(declared.workflows.keys() & moved.workflows.keys() - done):
        yield from _owned_elsewhere("workflow", workflow_id, moved.workflows[workflow_id].source, declared.source)
    yield from _changed_kinds(declared, current)
    for schedule_id in sorted(declared.schedules.keys() & moved.schedules.keys()):
        yield from _owned_elsewhere("schedule", schedule_id, moved.schedules[schedule_id].source, declared.source)


def _owned_elsewhere(what: str, name: str, owner: str, source: str) -> Iterator[Refusal]:
    if owner in OWNERS and owner != source:
        hint = f"Change it there, or give the {what} another id here."
        yield Refusal(what, name, owner, f'{what} "{name}" is defined {OWNERS[owner]}', hint)


def _changed_kinds(declared: Declared, current: Current) -> Iterator[Refusal]:
    """Refuse to turn a job into a workflow or a workflow into a job: their histories would be mixed."""
    graphs = {name for name, spec in current.jobs.items() if spec.kind == GRAPH}
    for name in sorted(graphs & (declared.jobs.keys() | _former(declared, declared.jobs))):
        message = f'"{name}" is a workflow, and cannot become a job'
        yield Refusal("job", name, "", message, "Give the job another id.")
    plain = {name for name, spec in current.jobs.items() if not is_part_of_workflow(spec)}
    for name in sorted(plain & (declared.workflows.keys() | _former(declared, declared.workflows))):
        message = f'"{name}" is a job, and cannot become a workflow'
        yield Refusal("workflow", name, "", message, "Give the workflow another id.")


def _former(declared: Declared, names: Collection[str]) -> set[JobId]:
    """Return the former ids of definitions that are renamed to one of `names`."""
    return {old for old, new in declared.renames.items() if new in names}


def _name_taken(rename: Rename, current: Current) -> Iterator[Refusal]:
    """Refuse a rename if the new id of one of its schedules belongs to a schedule of another job."""
    for schedule_id, spec in sorted(current.schedules.items()):
        wanted = renamed_schedule_id(schedule_id, rename)
        taken = current.schedules.get(wanted)
        if spec.target == rename.old and taken is not None and taken.target != rename.old:
            message = f'schedule "{schedule_id}" cannot become "{wanted}", which belongs to another job'
            yield Refusal(
                "schedule", schedule_id, "", message, f'Delete that schedule, or remove renamed_from = "{rename.old}".'
            )
