"""Stored documents that name jobs by their ids, as they are when those have others (`domain.rename`).

One that cannot be read stays as it is: nobody knows what it names.
"""

from collections.abc import Callable
from os.path import commonprefix
from typing import TypeVar

from foliot.adapters.storage.documents import decode_job_spec, decode_schedule_spec, encode
from foliot.adapters.storage.execution_rows import decode_jobs, decode_workflow_spec
from foliot.domain.ids import ScheduleId
from foliot.domain.payload import UNREADABLE
from foliot.domain.rename import Names, Rename, renamed_job, renamed_spec, renamed_workflow

T = TypeVar("T")


def sign_of(names: Names) -> str:
    """Text that stands in every document which names one of these; of one name, in hardly any other."""
    return commonprefix([encode(name) for name in names])  # noqa: RUF071 - these are no paths


def job_document(document: str, names: Names) -> str | None:
    """A definition with the new ids; None where it names none of them."""
    return _changed(decode_job_spec, document, lambda before: renamed_job(before, names))


def version_document(workflow_id: str, document: str, names: Names) -> str | None:
    """A version of a workflow with the new ids; None where it names none of them."""
    return _changed(decode_workflow_spec, document, lambda before: renamed_workflow(workflow_id, before, names))


def jobs_document(document: str, names: Names) -> str | None:
    """The jobs that an execution began with, under the new ids; None where none of them has one."""
    return _changed(
        decode_jobs,
        document,
        lambda before: {names.get(job_id, job_id): renamed_job(spec, names) for job_id, spec in before.items()},
    )


def schedule_document(document: str, schedule_id: str, rename: Rename) -> str:
    """What a schedule of the job, or a revision of one, says from now on."""
    after = _changed(decode_schedule_spec, document, lambda spec: renamed_spec(spec, ScheduleId(schedule_id), rename))
    return document if after is None else after


def _changed(read: Callable[[str], T], document: str, change: Callable[[T], T]) -> str | None:
    try:
        before = read(document)
    except UNREADABLE:
        return None
    after = change(before)
    return None if after == before else encode(after)
