"""The format of documents of jobs and workflows, which `config` implements and `wiring` provides."""

from collections.abc import Mapping
from typing import Any, Protocol

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.job.document import JobDocument
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.defaults import ScheduleDefaults
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.workflow.document import WorkflowDocument
from foliot.domain.workflow.spec import WorkflowSpec

Document = Mapping[str, Any] | str | bytes
"""A workflow as JSON, with the keys of [[workflows]], or a job with those of [[jobs]]."""


class DocumentFormat(Protocol):
    """Reads and writes jobs and workflows as JSON documents."""

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

    def read_job(self, tree: Mapping[str, Any], now: Instant, defaults: ScheduleDefaults) -> JobDocument: ...

    def write_job(
        self, job_id: JobId, spec: JobSpec, schedules: Mapping[ScheduleId, ScheduleSpec]
    ) -> dict[str, Any] | None:
        """Return a job as a document, with its secrets; None if no document can contain it."""
        ...

    def public_job(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the document of a job with masks for values that may be secrets."""
        ...

    def restore_hidden(self, tree: dict[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
        """Return a document with the stored values in place of masks."""
        ...
