"""Definitions that name renamed jobs (`domain.deploy.rename`): find them, and store them with the new ids.

The job of a workflow whose versions change gets a higher revision, so that a cached version is read again.
"""

from pathlib import Path
from typing import Final

from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.shared.renames import References, common_text, references_in_jobs, references_in_versions
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.events import add_event
from foliot.domain.deploy.rename import Names
from foliot.domain.events import EventKind
from foliot.domain.instant import Instant

SQL: Final = load_queries(Path(__file__).parent / "sql" / "references.sql")


def find_references(tx: Transaction, project: str, names: Names) -> References:
    text = common_text(names)
    jobs = references_in_jobs(tx.rows(SQL["jobs_that_name"], (project, text)), names)
    return References(jobs, references_in_versions(tx.rows(SQL["versions_that_name"], (project, text)), names))


def rename_references(tx: Transaction, project: str, references: References, now: Instant) -> None:
    """Call this before the jobs themselves get their new ids."""
    jobs, versions = references
    tx.run_many(SQL["change_jobs"], [(one.document, project, job_id) for job_id, one in jobs.items()])
    tx.run_many(SQL["change_versions"], [(one.document, project, *key) for key, one in versions.items()])
    risen = tx.rows(SQL["raise_revisions"], (now, project, encode_names(references.changed_jobs)))
    add_event(tx, now, EventKind.JOB_CHANGED, [list(row) for row in risen])
