"""Renames jobs in stored documents (`domain.deploy.rename`), and finds what keeps a job from being renamed.

A document that cannot be read is left unchanged. A rename is refused while an open execution, an opening or a waiting
gate names the job.
"""

from collections.abc import Callable, Iterable
from os.path import commonprefix
from typing import NamedTuple, TypeVar

from foliot.adapters.storage.shared.documents import decode_job_spec, decode_schedule_spec, encode
from foliot.adapters.storage.shared.tree_rows import decode_body_jobs, decode_workflow_spec
from foliot.domain.deploy.rename import (
    Names,
    Rename,
    jobs_named_by_job,
    jobs_named_by_workflow,
    renamed_job,
    renamed_spec,
    renamed_workflow,
)
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.run.payload import UNREADABLE
from foliot.errors import JobInUse

T = TypeVar("T")


class Reference(NamedTuple):
    """A document that names a renamed job."""

    named: JobId
    """One of the former ids in the document."""
    document: str
    """The document after the rename."""


class References(NamedTuple):
    """All definitions that name renamed jobs."""

    jobs: dict[JobId, Reference]
    versions: dict[tuple[str, int], Reference]
    """By workflow and version."""

    @property
    def changed_jobs(self) -> set[JobId]:
        """Jobs whose definition changes, and the jobs of workflows with a changed version."""
        return {*self.jobs, *(JobId(workflow_id) for workflow_id, _ in self.versions)}


def common_text(names: Names) -> str:
    """Return a text that is part of every document that names one of these jobs, to select candidates in SQL."""
    return commonprefix([encode(name) for name in names])  # noqa: RUF071 - these are not paths


def references_in_jobs(rows: Iterable[tuple[str, str]], names: Names) -> dict[JobId, Reference]:
    """Return the references in rows of id and definition."""
    found = {JobId(job_id): _reference_in_job(document, names) for job_id, document in rows}
    return {job_id: reference for job_id, reference in found.items() if reference is not None}


def references_in_versions(rows: Iterable[tuple[str, int, str]], names: Names) -> dict[tuple[str, int], Reference]:
    """The references in rows of workflow, version and definition."""
    found = {(workflow_id, version): _reference_in_version(document, names) for workflow_id, version, document in rows}
    return {key: reference for key, reference in found.items() if reference is not None}


def named_in_copies(document: str, names: Names) -> JobId | None:
    """Return one of these jobs that is named by the job copies of an execution, or None."""
    jobs = _read(decode_body_jobs, document) or {}
    return _first(names, set(jobs).union(*map(jobs_named_by_job, jobs.values())))


def schedule_document(document: str, schedule_id: str, rename: Rename) -> str:
    """Return the document of a schedule of the job, or of one of its revisions, after the rename."""
    before = _read(decode_schedule_spec, document)
    after = None if before is None else renamed_spec(before, ScheduleId(schedule_id), rename)
    return document if after == before else encode(after)


def _reference_in_job(document: str, names: Names) -> Reference | None:
    spec = _read(decode_job_spec, document)
    named = None if spec is None else _first(names, jobs_named_by_job(spec))
    return None if spec is None or named is None else Reference(named, encode(renamed_job(spec, names)))


def _reference_in_version(document: str, names: Names) -> Reference | None:
    spec = _read(decode_workflow_spec, document)
    named = None if spec is None else _first(names, jobs_named_by_workflow(spec))
    return None if spec is None or named is None else Reference(named, encode(renamed_workflow(spec, names)))


def _first(names: Names, named: set[str]) -> JobId | None:
    return next((name for name in names if name in named), None)


def _read(decode: Callable[[str], T], document: str) -> T | None:
    try:
        return decode(document)
    except UNREADABLE:
        return None


# -- uses that refuse a rename

ExecutionUse = tuple[str, int | None, str | None, JobId]
"""workflow, version, step, job: open executions of the workflow (of this version, with this step) name the job."""


def execution_uses(names: Names, references: References) -> list[ExecutionUse]:
    """Return the uses by open executions.

    A new id may be the id of a deleted workflow that still has open executions.
    """
    workflows = [(job_id, None, None, old) for old, new in names.items() for job_id in (old, new)]
    steps = [(old[:dot], None, old[dot + 1 :], old) for old in names for dot, letter in enumerate(old) if letter == "."]
    versions = [
        (workflow_id, version, None, reference.named)
        for (workflow_id, version), reference in references.versions.items()
    ]
    return [*workflows, *steps, *versions]


def opening_uses(names: Names, references: References) -> dict[str, JobId]:
    """Return the workflows whose executions name one of these jobs, each with that job."""
    named = {workflow_id: reference.named for (workflow_id, _), reference in references.versions.items()}
    return named | {job_id: old for old, new in names.items() for job_id in (new, old)}


def gate_uses(names: Names, references: References) -> dict[JobId, JobId]:
    """Return the jobs whose gated runs name one of these jobs, each with that job."""
    return {job_id: reference.named for job_id, reference in references.jobs.items()} | {old: old for old in names}


def used_by_execution(job_id: str, run_id: str, workflow_id: str) -> JobInUse:
    return JobInUse(job_id, f"execution {run_id} of workflow {workflow_id!a} is open", run_id)


def used_by_opening(job_id: str, run_id: str, workflow_id: str) -> JobInUse:
    return JobInUse(job_id, f"execution {run_id} of workflow {workflow_id!a} is starting", run_id)


def used_by_gate(job_id: str, run_id: str, gated_id: str) -> JobInUse:
    return JobInUse(job_id, f"run {run_id} of job {gated_id!a} waits for its gate", run_id)
