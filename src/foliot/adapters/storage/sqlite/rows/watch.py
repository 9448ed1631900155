"""Watches jobs: the ends of their runs are kept in order of time (`endings`)."""

from collections.abc import Mapping

from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.domain.ids import JobId
from foliot.domain.instant import Millis


def watch_jobs(tx: Transaction, project: str, look_back: Mapping[JobId, Millis]) -> None:
    """Begin to keep the ends of the runs of these jobs, including past ones."""
    for job_id in tx.column(SQL["unwatched"], (project, encode_names(look_back))):
        tx.run(SQL["watch"], (project, job_id))
        tx.run(SQL["keep_earlier_endings"], (project, job_id))
    tx.run_many(SQL["look_back"], [(project, job_id, span) for job_id, span in look_back.items()])
