"""What applying a text would do to each of its definitions. Only what the text names is compared."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from foliot.domain.deploy.deployment import OWNERS
from foliot.domain.deploy.difference import Difference, differences
from foliot.domain.deploy.text import API, TextDefinition
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job, JobSpec
from foliot.domain.schedule.edit import is_same_rule
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec, canonical
from foliot.domain.workflow.spec import GRAPH, PART_SOURCE, WorkflowSpec
from foliot.errors import Problem, Severity
from foliot.ports.definitions import WorkflowVersion
from foliot.service.queries.definition_view import (
    DefinitionAction,
    DefinitionView,
    FieldChange,
    inputs_of,
    items_of,
    stages_of,
    view_rule,
    view_steps,
    work_of,
)


class Stored(NamedTuple):
    """What is stored under the names of a text."""

    jobs: Mapping[JobId, Job]
    """With readable URLs of notifications."""
    workflows: Mapping[str, WorkflowVersion]
    schedules: Mapping[ScheduleId, Schedule]
    """Those with ids that the text uses."""
    by_target: Mapping[JobId, Sequence[Schedule]]
    """Those of these jobs and workflows."""

    def job(self, job_id: JobId) -> Job | None:
        """Return the job, if it is not that of a workflow."""
        job = self.jobs.get(job_id)
        return None if job is None or job.spec.kind == GRAPH else job

    def own_schedules(self, definition_id: JobId, *, is_workflow: bool) -> dict[ScheduleId, Schedule]:
        """Return the schedules that were stored with a definition, without those added by hand."""
        source = PART_SOURCE if is_workflow else API
        return {
            one.id: one
            for one in self.by_target.get(definition_id, ())
            if one.revision.spec.source == source and one.id.startswith(f"{definition_id}:")
        }


class PlannedSchedule(NamedTuple):
    id: ScheduleId
    spec: ScheduleSpec
    action: str
    """created, changed, unchanged or removed"""


class PlannedDefinition(NamedTuple):
    """A definition of a text, compared with the stored one."""

    definition: TextDefinition
    action: DefinitionAction
    owner: str | None
    revision: int | None
    changes: tuple[Difference, ...]
    schedules: tuple[PlannedSchedule, ...]
    problems: tuple[Problem, ...]

    @property
    def id(self) -> JobId:
        return self.definition.id

    @property
    def is_stored_next(self) -> bool:
        """Whether applying the text stores it."""
        actions = (DefinitionAction.CREATED, DefinitionAction.CHANGED, DefinitionAction.UNCHANGED)
        return self.action in actions

    def view(self, now: Instant, revision: int | None = None) -> DefinitionView:
        job, workflow = self.definition.job, self.definition.workflow
        steps, drawing = view_steps(workflow)
        return DefinitionView(
            kind=self.definition.kind,
            id=self.id,
            work=work_of(self.definition.kind, job),
            line=self.definition.place.line,
            action=self.action,
            owner=self.owner,
            place=None,
            revision=self.revision if revision is None else revision,
            changes=[FieldChange(field=one.field, before=one.before, after=one.after) for one in self.changes],
            schedules=[view_rule(one.id, one.spec, one.action, now) for one in self.schedules],
            steps=steps,
            drawing=drawing,
            stages=stages_of(job),
            items=items_of(job),
            inputs_from=inputs_of(job),
        )


def plan(definition: TextDefinition, stored: Stored) -> PlannedDefinition:
    """Compare a definition with what is stored."""
    before = _before(definition, stored)
    owner, revision = _owner(definition, stored), _revision(definition, stored)
    schedules = tuple(_schedules(definition, stored))
    changes = _changes(definition, before)
    is_same = not changes and all(one.action == "unchanged" for one in schedules)
    problems = tuple(_problems(definition, stored))
    if definition.job is None and definition.workflow is None:
        action = DefinitionAction.UNREADABLE
    elif owner in OWNERS:
        action = DefinitionAction.REFUSED
    elif before is None:
        action = DefinitionAction.CREATED
    else:
        action = DefinitionAction.UNCHANGED if is_same else DefinitionAction.CHANGED
    return PlannedDefinition(definition, action, owner, revision, changes, schedules, problems)


def _before(definition: TextDefinition, stored: Stored) -> JobSpec | WorkflowSpec | None:
    if definition.workflow is not None:
        version = stored.workflows.get(definition.id)
        return None if version is None else version.spec
    job = stored.job(definition.id)
    return None if job is None else job.spec


def _owner(definition: TextDefinition, stored: Stored) -> str | None:
    if definition.id in stored.workflows:
        return stored.workflows[definition.id].spec.source
    job = stored.jobs.get(definition.id)
    return None if job is None else job.spec.source


def _revision(definition: TextDefinition, stored: Stored) -> int | None:
    if definition.id in stored.workflows:
        return stored.workflows[definition.id].version
    job = stored.job(definition.id)
    return None if job is None else job.revision


def _changes(definition: TextDefinition, before: JobSpec | WorkflowSpec | None) -> tuple[Difference, ...]:
    after = definition.workflow or definition.job
    if before is None or after is None or before == _as_stored(after):
        return ()
    return differences(before, after)


def _as_stored(spec: JobSpec | WorkflowSpec) -> JobSpec | WorkflowSpec:
    """Return a definition as it will be read back: a tuple in it becomes a list, which is not a change."""
    return msgspec.json.decode(msgspec.json.encode(spec), type=type(spec))


def _schedules(definition: TextDefinition, stored: Stored) -> Iterator[PlannedSchedule]:
    own = stored.own_schedules(definition.id, is_workflow=definition.workflow is not None)
    for name, given in definition.schedules.items():
        spec, known = canonical(given, name), stored.schedules.get(name)
        is_same = known is not None and is_same_rule(known, spec)
        if name in definition.past and not is_same:
            continue
        own.pop(name, None)
        yield PlannedSchedule(name, spec, "unchanged" if is_same else "created" if known is None else "changed")
    for name, known in own.items():
        yield PlannedSchedule(name, known.revision.spec, "removed")


def _problems(definition: TextDefinition, stored: Stored) -> Iterator[Problem]:
    """Yield what prevents storing the definition, apart from its owner."""
    if definition.job is not None and definition.id in stored.workflows:
        message, hint = f'"{definition.id}" is a workflow, and cannot become a job', "Give the job another id."
        yield Problem(Severity.ERROR, definition.place, message, hint)
    for name in definition.schedules:
        known = stored.schedules.get(name)
        # A schedule without a readable target may be replaced.
        if known is not None and known.revision.spec.target not in ("", definition.id):
            message = f'schedule "{name}" belongs to "{known.revision.spec.target}"'
            hint = "Delete that one, or give this schedule another name."
            yield Problem(Severity.ERROR, definition.place, message, hint)
