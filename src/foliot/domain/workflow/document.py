"""A workflow read from a JSON document: its definition and its schedules."""

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
    """Schedules that will not fire again."""
    warnings: tuple[str, ...]
