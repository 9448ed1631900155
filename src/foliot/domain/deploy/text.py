"""Definitions in a text that a client sends: what could be read of it, and the problems in it."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import Place, Problem, Severity

MAX_BYTES: Final = 1 << 20
MAX_DEFINITIONS: Final = 2_000
API: Final = "api"


class TextDefinition(NamedTuple):
    """A job, a workflow or a class of chains with its schedules. Neither `job` nor `workflow`: it cannot be read."""

    kind: str
    """job, fanout, workflow or chain"""
    id: JobId
    place: Place
    job: JobSpec | None
    workflow: WorkflowSpec | None
    schedules: Mapping[ScheduleId, ScheduleSpec]
    past: frozenset[ScheduleId]
    """Schedules that will not fire again."""


class TextDefinitions(NamedTuple):
    """What a text defines, in its order."""

    definitions: tuple[TextDefinition, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def jobs(self) -> dict[JobId, JobSpec]:
        return {one.id: one.job for one in self.definitions if one.job is not None}

    @property
    def workflows(self) -> dict[str, WorkflowSpec]:
        return {one.id: one.workflow for one in self.definitions if one.workflow is not None}
