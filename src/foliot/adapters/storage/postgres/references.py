"""Definitions that name renamed jobs (`domain.deploy.rename`): find them, and store them with the new ids.

Their jobs, also those of workflows, are locked together with the renamed ones, before anything else. An execution is
opened, and a run put before its gate, only under a shared lock of its job: what names a renamed job is stored before
the rename looks for it, or after the rename.
"""

from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.shared.renames import References, common_text, references_in_jobs, references_in_versions
from foliot.domain.deploy.rename import Names
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant


async def referring_jobs(transaction: Transaction, project: str, names: Names) -> set[JobId]:
    """Jobs, also those of workflows, that may name one of these."""
    text = common_text(names)
    jobs = await transaction.column("jobs_that_name", project, text)
    return {*jobs, *await transaction.column("workflows_that_name", project, text)}


async def find_references(transaction: Transaction, project: str, names: Names) -> References:
    text = common_text(names)
    jobs = await transaction.rows("lock_jobs_that_name", project, text)
    versions = await transaction.rows("versions_that_name", project, text)
    return References(references_in_jobs(jobs, names), references_in_versions(versions, names))


async def rename_references(transaction: Transaction, project: str, references: References, now: Instant) -> None:
    """Call this before the jobs themselves get their new ids."""
    jobs = [(job_id, one.document) for job_id, one in references.jobs.items()]
    if jobs:
        await transaction.run("change_jobs", project, *columns(jobs))
    versions = [(*key, one.document) for key, one in references.versions.items()]
    if versions:
        await transaction.run("change_versions", project, *columns(versions))
    if references.changed_jobs:
        risen = await transaction.rows("raise_revisions", now, project, sorted(references.changed_jobs))
        transaction.note(EventKind.JOB_CHANGED, [list(row) for row in risen])
