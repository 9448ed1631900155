"""Jobs get other ids: whoever names them (`domain.rename`) names them by those from now on.

The job of a workflow whose versions have changed has a higher revision, so that nobody goes on with what was read
before. What was decided about an execution under the old names is not saved any more.
"""

from pathlib import Path
from typing import Final

from foliot.adapters.storage.documents import encode_names
from foliot.adapters.storage.queries import load_queries
from foliot.adapters.storage.references import job_document, jobs_document, sign_of, version_document
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.events import add_event
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.rename import Names

SQL: Final = load_queries(Path(__file__).parent / "sql" / "references.sql")


def rename_references(tx: Transaction, project: str, names: Names, now: Instant) -> None:
    """Comes before the jobs themselves get their new ids."""
    if not names:
        return
    sign = sign_of(names)
    changed = _rename_in_jobs(tx, project, names, sign) | _rename_in_versions(tx, project, names, sign)
    risen = tx.rows(SQL["raise_revisions"], (now, project, encode_names(changed)))
    add_event(tx, now, EventKind.JOB_CHANGED, [list(row) for row in risen])
    _rename_in_executions(tx, project, names, sign)


def _rename_in_jobs(tx: Transaction, project: str, names: Names, sign: str) -> set[JobId]:
    found = {JobId(row[0]): job_document(row[1], names) for row in tx.rows(SQL["jobs_that_name"], (project, sign))}
    changed = {job_id: document for job_id, document in found.items() if document is not None}
    tx.run_many(SQL["change_jobs"], [(document, project, job_id) for job_id, document in changed.items()])
    return set(changed)


def _rename_in_versions(tx: Transaction, project: str, names: Names, sign: str) -> set[JobId]:
    rows = tx.rows(SQL["versions_that_name"], (project, sign))
    found = [(version_document(workflow_id, spec, names), workflow_id, version) for workflow_id, version, spec in rows]
    changed = [(document, project, *key) for document, *key in found if document is not None]
    tx.run_many(SQL["change_versions"], changed)
    return {JobId(workflow_id) for _, _, workflow_id, _ in changed}


def _rename_in_executions(tx: Transaction, project: str, names: Names, sign: str) -> None:
    rows = tx.rows(SQL["executions_that_name"], (project, sign))
    found = [(jobs_document(jobs, names), run_id) for run_id, jobs in rows]
    tx.run_many(SQL["change_executions"], [row for row in found if row[0] is not None])
