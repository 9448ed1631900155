"""Jobs get other ids: whoever names them (`domain.rename`) names them by those from now on.

    jobs            locked first, with those of workflows: nobody opens an execution from here on
    versions        a workflow of which one has changed has a job of a higher revision: what was read before is outdated
    executions      locked and of a higher state: nobody starts a step under an old name, and whoever has is done

So the runs that are renamed after this are all there will ever be under the old names.
"""

from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.references import job_document, jobs_document, sign_of, version_document
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.rename import Names


async def referring_jobs(transaction: Transaction, project: str, names: Names) -> set[JobId]:
    """Jobs, also those of workflows, that may name one of these: to be locked together with them."""
    sign = sign_of(names)
    jobs = await transaction.column("jobs_that_name", project, sign)
    return {*jobs, *await transaction.column("workflows_that_name", project, sign)}


async def rename_references(transaction: Transaction, project: str, names: Names, now: Instant) -> None:
    """Comes before the jobs themselves get their new ids."""
    if not names:
        return
    sign = sign_of(names)
    changed = await _rename_in_jobs(transaction, project, names, sign)
    changed |= await _rename_in_versions(transaction, project, names, sign)
    if changed:
        risen = await transaction.rows("raise_revisions", now, project, sorted(changed))
        transaction.note(EventKind.JOB_CHANGED, [list(row) for row in risen])
    await _rename_in_executions(transaction, project, names, sign)


async def _rename_in_jobs(transaction: Transaction, project: str, names: Names, sign: str) -> set[JobId]:
    rows = await transaction.rows("lock_jobs_that_name", project, sign)
    found = {JobId(row["id"]): job_document(row["spec"], names) for row in rows}
    changed = [(job_id, document) for job_id, document in found.items() if document is not None]
    if changed:
        await transaction.run("change_jobs", project, *columns(changed))
    return {job_id for job_id, _ in changed}


async def _rename_in_versions(transaction: Transaction, project: str, names: Names, sign: str) -> set[JobId]:
    rows = await transaction.rows("versions_that_name", project, sign)
    found = [(row["id"], row["version"], version_document(row["id"], row["spec"], names)) for row in rows]
    changed = [row for row in found if row[2] is not None]
    if changed:
        await transaction.run("change_versions", project, *columns(changed))
    return {JobId(workflow_id) for workflow_id, _, _ in changed}


async def _rename_in_executions(transaction: Transaction, project: str, names: Names, sign: str) -> None:
    rows = await transaction.rows("executions_that_name", project, sign)
    found = [(row["run_id"], jobs_document(row["jobs"], names)) for row in rows]
    changed = [row for row in found if row[1] is not None]
    if changed:
        await transaction.run("change_executions", *columns(changed))
