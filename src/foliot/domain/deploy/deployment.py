"""A deployment: a whole set of definitions, what is stored before it, and what it changes."""

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

    def concerns(self, name: str, source: str) -> bool:
        """Return whether a stored definition matters to the comparison. A rename may touch every definition."""
        if self.renames or source == self.source:
            return True
        return name in self.jobs or name in self.workflows or name in self.schedules


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


class Change(Struct, Generic[Name, Spec], frozen=True):
    """What happens to one definition."""

    id: Name
    action: Action
    spec: Spec
    """As it will be stored. Of a job or workflow that is removed: disabled; of a schedule: as it was."""
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
