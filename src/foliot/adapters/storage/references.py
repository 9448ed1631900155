"""Stored documents that name jobs by their ids, as they are when those have others (`domain.rename`)."""

from os.path import commonprefix

from foliot.adapters.storage.documents import decode_job_spec, encode
from foliot.adapters.storage.execution_rows import decode_jobs, decode_workflow_spec
from foliot.domain.rename import Names, renamed_job, renamed_workflow


def sign_of(names: Names) -> str:
    """Text that stands in every document which names one of these; of one name, in hardly any other."""
    return commonprefix([encode(name) for name in names])  # noqa: RUF071 - these are no paths


def job_document(document: str, names: Names) -> str | None:
    """A definition with the new ids; None where it names none of them."""
    before = decode_job_spec(document)
    after = renamed_job(before, names)
    return None if after == before else encode(after)


def version_document(workflow_id: str, document: str, names: Names) -> str | None:
    """A version of a workflow with the new ids; None where it names none of them."""
    before = decode_workflow_spec(document)
    after = renamed_workflow(workflow_id, before, names)
    return None if after == before else encode(after)


def jobs_document(document: str, names: Names) -> str | None:
    """The jobs that an execution began with, under the new ids; None where none of them has one."""
    before = decode_jobs(document)
    after = {names.get(job_id, job_id): renamed_job(spec, names) for job_id, spec in before.items()}
    return None if after == before else encode(after)
