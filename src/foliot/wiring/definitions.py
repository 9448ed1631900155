"""Definitions as JSON and TOML for the services. Readers are imported on first use: most programs read none."""

from collections.abc import Mapping
from typing import Any

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.job.document import JobDocument
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.defaults import ScheduleDefaults
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.workflow.document import WorkflowDocument
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidWorkflow
from foliot.service.commands.documents import Document
from foliot.service.commands.texts import ParsedText, Schedules, TextToml


class JsonDocuments:
    """Jobs and workflows as JSON documents. Their readers are imported on first use: most programs read none."""

    def open(self, document: Document) -> dict[str, Any]:
        from foliot.config.json_document import open_document

        return open_document(document)

    def job_names(self, tree: Mapping[str, Any]) -> set[JobId]:
        from foliot.config.workflow_json import names_in

        return names_in(tree)

    def read(
        self, tree: Mapping[str, Any], jobs: Mapping[JobId, JobSpec], now: Instant, defaults: ScheduleDefaults
    ) -> WorkflowDocument:
        from foliot.config.workflow_json import read_workflow

        return read_workflow(tree, jobs, now, defaults)

    def write(
        self, workflow_id: str, spec: WorkflowSpec, schedules: Mapping[ScheduleId, ScheduleSpec]
    ) -> dict[str, Any]:
        from foliot.config.workflow_writing import write_workflow

        return write_workflow(workflow_id, spec, schedules)

    def write_public(
        self, workflow_id: str, spec: WorkflowSpec, schedules: Mapping[ScheduleId, ScheduleSpec]
    ) -> dict[str, Any] | None:
        from foliot.config.workflow_writing import public_workflow, write_workflow

        try:
            return public_workflow(write_workflow(workflow_id, spec.as_written, schedules))
        except InvalidWorkflow:
            return None

    def read_job(self, tree: Mapping[str, Any], now: Instant, defaults: ScheduleDefaults) -> JobDocument:
        from foliot.config.job_json import read_job

        return read_job(tree, now, defaults)

    def write_job(
        self, job_id: JobId, spec: JobSpec, schedules: Mapping[ScheduleId, ScheduleSpec]
    ) -> dict[str, Any] | None:
        from foliot.config.job_writing import write_job

        return write_job(job_id, spec, schedules)

    def public_job(self, document: dict[str, Any]) -> dict[str, Any]:
        from foliot.config.job_writing import public_job

        return public_job(document)

    def restore_hidden(self, tree: dict[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
        from foliot.config.job_json import restore_hidden

        restored: dict[str, Any] = restore_hidden(tree, stored)
        return restored


class TomlTexts:
    """Definitions as TOML. Their reader is imported on first use: most programs read none."""

    def parse(self, text: str) -> ParsedText:
        from foliot.config.definition_text import open_text

        return open_text(text)

    def secret_job(self, job_id: JobId, job: JobSpec, schedules: Schedules) -> Mapping[str, Any]:
        from foliot.config.definition_writing import secret_tree

        return secret_tree(job_id, job, schedules)

    def secret_workflow(self, workflow_id: str, spec: WorkflowSpec, schedules: Schedules) -> Mapping[str, Any]:
        from foliot.config.definition_writing import secret_workflow_tree

        return secret_workflow_tree(workflow_id, spec, schedules)

    def write_job(self, job_id: JobId, job: JobSpec, schedules: Schedules) -> TextToml:
        from foliot.config.definition_writing import write_job_text

        return TextToml(*write_job_text(job_id, job, schedules))

    def write_workflow(self, workflow_id: str, spec: WorkflowSpec, schedules: Schedules) -> TextToml:
        from foliot.config.definition_writing import write_workflow_text

        return TextToml(*write_workflow_text(workflow_id, spec, schedules))
