"""A workflow that was read from a document: its definition and the schedules that come with it."""

from collections.abc import Mapping
from typing import NamedTuple

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.workflow.spec import WorkflowSpec


class WorkflowDocument(NamedTuple):
    """The contents of a document."""

    id: JobId
    spec: WorkflowSpec
    schedules: Mapping[ScheduleId, ScheduleSpec]
    past: frozenset[ScheduleId]
    """Schedules that will not fire any more."""
    warnings: tuple[str, ...]
