"""What applying a set of definitions would change: a comparison, decided before anything is written.

    declared        current                     what happens to a job
    there           not there                   created
    there           there, different            changed; nothing else of it is touched
    there           there, equal                unchanged
    there (was x)   x there, this one not       renamed: its history and its schedules come along
    not there       there, of the same source   removed: disabled, its history kept, its schedules deleted
    there           there, of another owner     refused

A workflow is compared in the same way, by its newest version. The jobs behind it and its steps are stored with it, get
another name with it, and are no definitions of their own.

Applying is: rename, put jobs, put workflows, put schedules, delete schedules. Whether a schedule is paused is nobody's
definition and stays as it is. Comparing again after applying finds nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from foliot.domain.difference import Difference as Difference
from foliot.domain.difference import differences
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job import Job, JobSpec
from foliot.domain.rename import (
    Names,
    Rename,
    possible_renames,
    renamed_job,
    renamed_schedule_id,
    renamed_spec,
    renamed_workflow,
)
from foliot.domain.schedule import Schedule, ScheduleSpec, canonical
from foliot.domain.workflow.checking import step_job_id
from foliot.domain.workflow.dependencies import led_by
from foliot.domain.workflow.jobs import GRAPH, PART_SOURCE, is_part_of_workflow
from foliot.domain.workflow.spec import WorkflowSpec

FILE: Final = "file"
OWNERS: Final[Mapping[str, str]] = {
    "file": "in the configuration file",
    "app": "in the application's code",
    "foliot": "by Foliot itself",
    PART_SOURCE: "by a workflow, whose part it is",
}
"""Sources whose definitions nobody else changes, and where such a definition stands."""


class Declared(Struct, frozen=True, kw_only=True):
    """A whole set of definitions, as its source wants it."""

    jobs: Mapping[JobId, JobSpec] = {}
    workflows: Mapping[str, WorkflowSpec] = {}
    schedules: Mapping[ScheduleId, ScheduleSpec] = {}
    renames: Mapping[JobId, JobId] = {}
    """Former id -> id of a job, or a workflow, that once had another one."""
    past: frozenset[ScheduleId] = frozenset()
    """Schedules that cannot fire any more: kept where they are stored just so, but not created."""
    source: str = FILE


class Current(Struct, frozen=True, kw_only=True):
    """What is stored."""

    jobs: Mapping[JobId, JobSpec] = {}
    """With those behind workflows."""
    workflows: Mapping[str, WorkflowSpec] = {}
    """The newest version of each."""
    schedules: Mapping[ScheduleId, ScheduleSpec] = {}
    paused: frozenset[ScheduleId] = frozenset()

    @classmethod
    def of(
        cls, jobs: Iterable[Job], schedules: Iterable[Schedule], workflows: Mapping[str, WorkflowSpec] | None = None
    ) -> Self:
        stored = list(schedules)
        return cls(
            jobs={job.id: job.spec for job in jobs},
            workflows=workflows or {},
            schedules={schedule.id: schedule.revision.spec for schedule in stored},
            paused=frozenset(schedule.id for schedule in stored if schedule.paused_at is not None),
        )


class Action(StrEnum):
    CREATED = "created"
    CHANGED = "changed"
    RENAMED = "renamed"
    """Has another id than before; what else differs is in its fields."""
    REMOVED = "removed"
    UNCHANGED = "unchanged"


class JobChange(NamedTuple):
    id: JobId
    action: Action
    spec: JobSpec
    """As it will be stored; of a removed job: disabled."""
    fields: tuple[Difference, ...] = ()
    was: JobId | None = None

    @property
    def needs_put(self) -> bool:
        return self.action is Action.CREATED or bool(self.fields)


class WorkflowChange(NamedTuple):
    id: str
    action: Action
    spec: WorkflowSpec
    """As it will be stored; of a removed one: disabled."""
    fields: tuple[Difference, ...] = ()
    was: JobId | None = None

    @property
    def needs_put(self) -> bool:
        return self.action is Action.CREATED or bool(self.fields)


class ScheduleChange(NamedTuple):
    id: ScheduleId
    action: Action
    spec: ScheduleSpec
    """As it will be stored; of a removed one: as it was."""
    fields: tuple[Difference, ...] = ()
    paused: bool = False
    was: ScheduleId | None = None

    @property
    def needs_put(self) -> bool:
        return self.action is Action.CREATED or bool(self.fields)


class Refusal(NamedTuple):
    """Something that cannot be applied. While there is one, nothing is."""

    what: str
    """job, workflow or schedule"""
    id: str
    owner: str
    """The source that has it, or empty when it is not about ownership."""
    message: str
    hint: str


class Changes(Struct, frozen=True, kw_only=True):
    """The difference between two sets of definitions, in the order of their ids."""

    jobs: tuple[JobChange, ...] = ()
    workflows: tuple[WorkflowChange, ...] = ()
    schedules: tuple[ScheduleChange, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    renames: Mapping[JobId, JobId] = {}
    """Former id -> id, to be done first; those of steps come with those of their workflows."""
    apart: Mapping[JobId, JobId] = {}
    """Former id -> id, where both are stored: two histories cannot become one, each keeps its own."""

    @property
    def jobs_to_put(self) -> dict[JobId, JobSpec]:
        return {change.id: change.spec for change in self.jobs if change.needs_put}

    @property
    def workflows_to_put(self) -> dict[str, WorkflowSpec]:
        return {change.id: change.spec for change in self.workflows if change.needs_put}

    @property
    def schedules_to_put(self) -> dict[ScheduleId, ScheduleSpec]:
        return {change.id: change.spec for change in self.schedules if change.needs_put}

    @property
    def schedules_to_delete(self) -> list[ScheduleId]:
        return [change.id for change in self.schedules if change.action is Action.REMOVED]


def compare(declared: Declared, current: Current) -> Changes:
    """What applying `declared` to `current` would do."""
    renames = _with_parts(possible_renames(declared.renames, current.jobs.keys()), current)
    moved, former = _renamed(current, renames)
    moved = _naming_anew(moved, dict(renames))
    names = {new: old for old, new in renames}
    return Changes(
        jobs=tuple(_job_changes(declared, moved, names)),
        workflows=tuple(_workflow_changes(declared, moved, names)),
        schedules=tuple(_schedule_changes(declared, moved, former)),
        refusals=tuple(_refusals(declared, current, moved, renames)),
        renames=dict(renames),
        apart=_kept_apart(declared, moved),
    )


def _with_parts(renames: Iterable[Rename], current: Current) -> list[Rename]:
    """A workflow takes the jobs of its steps along, those of former versions too; a job the workflow that it leads."""
    wanted = dict(renames)
    led = {JobId(led_by(old)): JobId(led_by(new)) for old, new in renames if _is_led(led_by(old), current)}
    steps = {
        step_job_id(old, name): step_job_id(new, name)
        for old, new in renames
        if old in current.workflows
        for name in _steps_under(old, current)
    }
    # Workflows first: from then on nothing is started under the old names of their steps.
    return possible_renames({**wanted, **led, **steps}, current.jobs.keys())


def _is_led(workflow_id: str, current: Current) -> bool:
    """Whether there is such a workflow, and Foliot made it of dependencies."""
    job = current.jobs.get(JobId(workflow_id))
    return job is not None and job.source == "foliot"


def _steps_under(workflow_id: JobId, current: Current) -> Iterator[str]:
    """The names of its steps, former ones too. Of `a` and `a.b` the longer has the better right to `a.b.c`."""
    mine = f"{workflow_id}."
    longer = tuple(f"{other}." for other in current.workflows if other.startswith(mine))
    own = {step_job_id(workflow_id, step.name) for step in current.workflows[workflow_id].steps}
    for name, spec in current.jobs.items():
        is_ours = name in own or not name.startswith(longer)
        if spec.source == PART_SOURCE and name.startswith(mine) and is_ours:
            yield name.removeprefix(mine)


def _renamed(current: Current, renames: Iterable[Rename]) -> tuple[Current, dict[ScheduleId, ScheduleId]]:
    """What is stored once the renames have been done, and the former ids of schedules that got other ones."""
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


def _naming_anew(current: Current, names: Names) -> Current:
    """What is stored, with the new ids wherever a gate or a step names a job."""
    if not names:
        return current
    jobs = {job_id: renamed_job(spec, names) for job_id, spec in current.jobs.items()}
    workflows = {name: renamed_workflow(name, spec, names) for name, spec in current.workflows.items()}
    return replace(current, jobs=jobs, workflows=workflows)


def _kept_apart(declared: Declared, moved: Current) -> dict[JobId, JobId]:
    return {
        old: new
        for old, new in declared.renames.items()
        if old in moved.jobs and new in moved.jobs and old not in declared.jobs and old not in declared.workflows
    }


def _job_changes(declared: Declared, current: Current, former: Mapping[JobId, JobId]) -> Iterator[JobChange]:
    for job_id in sorted(declared.jobs.keys() | current.jobs.keys()):
        before, after = current.jobs.get(job_id), declared.jobs.get(job_id)
        if after is not None:
            yield _job_change(job_id, before, after, former.get(job_id))
        elif before is not None and before.source == declared.source and before.enabled:
            if is_part_of_workflow(before):
                continue
            gone = replace(before, enabled=False)
            yield JobChange(job_id, Action.REMOVED, gone, differences(before, gone))


def _workflow_changes(declared: Declared, current: Current, former: Mapping[JobId, JobId]) -> Iterator[WorkflowChange]:
    for workflow_id in sorted(declared.workflows.keys() | current.workflows.keys()):
        before, after = current.workflows.get(workflow_id), declared.workflows.get(workflow_id)
        if after is not None:
            fields = () if before is None else differences(before, after)
            was = former.get(JobId(workflow_id))
            yield WorkflowChange(workflow_id, _action(before is not None, fields, was), after, fields, was)
        elif before is not None and before.source == declared.source and before.enabled:
            gone = replace(before, enabled=False)
            yield WorkflowChange(workflow_id, Action.REMOVED, gone, differences(before, gone))


def _job_change(job_id: JobId, before: JobSpec | None, after: JobSpec, was: JobId | None) -> JobChange:
    fields = () if before is None else differences(before, after)
    return JobChange(job_id, _action(before is not None, fields, was), after, fields, was)


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
                yield ScheduleChange(schedule_id, action, wanted, fields, paused, was)
                continue
        if before is not None and before.source == declared.source:
            yield ScheduleChange(schedule_id, Action.REMOVED, before, (), paused, was)


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
            yield from _not_ours(what, rename.old, current.jobs[rename.old].source, declared.source)
        yield from _name_taken(rename, stage)
        stage, _ = _renamed(stage, [rename])
    done = {rename.new for rename in renames}
    for job_id in sorted(declared.jobs.keys() & moved.jobs.keys() - done):
        yield from _not_ours("job", job_id, moved.jobs[job_id].source, declared.source)
    for workflow_id in sorted(declared.workflows.keys() & moved.workflows.keys() - done):
        yield from _not_ours("workflow", workflow_id, moved.workflows[workflow_id].source, declared.source)
    yield from _other_things(declared, current)
    for schedule_id in sorted(declared.schedules.keys() & moved.schedules.keys()):
        yield from _not_ours("schedule", schedule_id, moved.schedules[schedule_id].source, declared.source)


def _not_ours(what: str, name: str, owner: str, source: str) -> Iterator[Refusal]:
    if owner in OWNERS and owner != source:
        hint = f"Change it there, or give the {what} another id here."
        yield Refusal(what, name, owner, f'{what} "{name}" is defined {OWNERS[owner]}', hint)


def _other_things(declared: Declared, current: Current) -> Iterator[Refusal]:
    """A job does not become a workflow, nor a workflow a job: the history of one would be that of the other."""
    graphs = {name for name, spec in current.jobs.items() if spec.kind == GRAPH}
    for name in sorted(graphs & (declared.jobs.keys() | _former(declared, declared.jobs))):
        message = f'"{name}" is a workflow, and cannot become a job'
        yield Refusal("job", name, "", message, "Give the job another id.")
    plain = {name for name, spec in current.jobs.items() if not is_part_of_workflow(spec)}
    for name in sorted(plain & (declared.workflows.keys() | _former(declared, declared.workflows))):
        message = f'"{name}" is a job, and cannot become a workflow'
        yield Refusal("workflow", name, "", message, "Give the workflow another id.")


def _former(declared: Declared, names: Collection[str]) -> set[JobId]:
    """The former ids of those that had one."""
    return {old for old, new in declared.renames.items() if new in names}


def _name_taken(rename: Rename, current: Current) -> Iterator[Refusal]:
    """A schedule of some other job may stand where one of the renamed job's would go."""
    for schedule_id, spec in sorted(current.schedules.items()):
        wanted = renamed_schedule_id(schedule_id, rename)
        taken = current.schedules.get(wanted)
        if spec.target == rename.old and taken is not None and taken.target != rename.old:
            message = f'schedule "{schedule_id}" cannot become "{wanted}", which belongs to another job'
            yield Refusal("schedule", schedule_id, "", message, f'Delete that one, or leave out was = "{rename.old}".')
