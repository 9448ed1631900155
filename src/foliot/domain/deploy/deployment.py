"""A deployment: a complete set of definitions, what is stored before it, and the changes."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final, Generic, NamedTuple, Self, TypeVar

from msgspec import Struct

from foliot.domain.deploy.difference import Difference
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import Job, JobSpec
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec
from foliot.domain.workflow.jobs import PART_SOURCE
from foliot.domain.workflow.spec import WorkflowSpec

Name = TypeVar("Name", bound=str)
Spec = TypeVar("Spec", JobSpec, WorkflowSpec, ScheduleSpec)

FILE: Final = "file"
OWNERS: Final[Mapping[str, str]] = {
    "file": "in the configuration file",
    "app": "in the application's code",
    "foliot": "by Foliot itself",
    PART_SOURCE: "by the workflow that it is part of",
}
"""Sources that own their definitions, and where such a definition is."""


class Declared(Struct, frozen=True, kw_only=True):
    """A complete set of definitions of one source."""

    jobs: Mapping[JobId, JobSpec] = {}
    workflows: Mapping[str, WorkflowSpec] = {}
    schedules: Mapping[ScheduleId, ScheduleSpec] = {}
    renames: Mapping[JobId, JobId] = {}
    """Former id -> id of a renamed job or workflow."""
    past: frozenset[ScheduleId] = frozenset()
    """Schedules that cannot fire again: kept if they are stored unchanged, but not created."""
    source: str = FILE

    def concerns(self, name: str, source: str) -> bool:
        """Return whether a stored definition matters to the comparison. A rename may touch every definition."""
        if self.renames or source == self.source:
            return True
        return name in self.jobs or name in self.workflows or name in self.schedules


class Current(Struct, frozen=True, kw_only=True):
    """What is stored."""

    jobs: Mapping[JobId, JobSpec] = {}
    """Including the jobs of workflows."""
    workflows: Mapping[str, WorkflowSpec] = {}
    """The newest version of each workflow."""
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
    """It has a new id; other differences are in `fields`."""
    REMOVED = "removed"
    UNCHANGED = "unchanged"


class Change(Struct, Generic[Name, Spec], frozen=True):
    """The change of one definition."""

    id: Name
    action: Action
    spec: Spec
    """The definition to store. A removed job or workflow is disabled; a removed schedule is as it was."""
    fields: tuple[Difference, ...] = ()
    was: str | None = None

    @property
    def needs_put(self) -> bool:
        return self.action is Action.CREATED or bool(self.fields)


JobChange = Change[JobId, JobSpec]
WorkflowChange = Change[str, WorkflowSpec]


class ScheduleChange(Change[ScheduleId, ScheduleSpec], frozen=True):
    paused: bool = False


class Refusal(NamedTuple):
    """A change that is refused. If there is one, no change is applied."""

    what: str
    """job, workflow or schedule"""
    id: str
    owner: str
    """The source that owns it. Empty: the refusal is not about ownership."""
    message: str
    hint: str


class Changes(Struct, frozen=True, kw_only=True):
    """The difference between two sets of definitions, in order of ids."""

    jobs: tuple[JobChange, ...] = ()
    workflows: tuple[WorkflowChange, ...] = ()
    schedules: tuple[ScheduleChange, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    renames: Mapping[JobId, JobId] = {}
    """Former id -> id. Renames are applied first and include those of steps."""
    apart: Mapping[JobId, JobId] = {}
    """Former id -> id of renames that are not applied because both ids are stored: two histories cannot be merged."""

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
