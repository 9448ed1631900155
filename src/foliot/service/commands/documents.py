"""The format of workflow documents, which `config` implements and `wiring` provides."""

from collections.abc import Mapping
from typing import Any, Protocol

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.defaults import ScheduleDefaults
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.workflow.document import WorkflowDocument
from foliot.domain.workflow.spec import WorkflowSpec

Document = Mapping[str, Any] | str | bytes
"""A workflow as JSON, with the keys of [[workflows]]."""


class DocumentFormat(Protocol):
    """Reads and writes workflows as JSON documents."""

    def open(self, document: Document) -> dict[str, Any]: ...

    def job_names(self, tree: Mapping[str, Any]) -> set[JobId]: ...

    def read(
        self, tree: Mapping[str, Any], jobs: Mapping[JobId, JobSpec], now: Instant, defaults: ScheduleDefaults
    ) -> WorkflowDocument: ...

    def write(
        self, workflow_id: str, spec: WorkflowSpec, schedules: Mapping[ScheduleId, ScheduleSpec]
    ) -> dict[str, Any]: ...

    def write_public(
        self, workflow_id: str, spec: WorkflowSpec, schedules: Mapping[ScheduleId, ScheduleSpec]
    ) -> dict[str, Any] | None:
        """The same without secrets; None if a step is a function, which no document can name."""
        ...
