"""A job read from a JSON document: its definition and its schedules."""

from collections.abc import Mapping
from typing import NamedTuple

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import ScheduleSpec


class JobDocument(NamedTuple):
    """The contents of a document."""

    id: JobId
    spec: JobSpec
    schedules: Mapping[ScheduleId, ScheduleSpec]
    past: frozenset[ScheduleId]
    """Schedules that will not fire again."""
    warnings: tuple[str, ...]
