"""Runs as people see them."""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from foliot.adapters.storage.shared import documents
from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.shared.run_rows import attempt_of, run_of
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.connection import Session
from foliot.domain.ids import RunId
from foliot.domain.run.run import AttemptRecord, Run, Status
from foliot.ports.queries import RunFilter

SQL: Final = load_queries(Path(__file__).parent / "sql" / "run_listing.sql")
_AFTER_ALL: Final = "~"
_STATUS_FILTER: Final = {
    Status.SCHEDULED: "scheduled",
    Status.QUEUED: "queued",
    Status.RUNNING: "running",
    Status.CANCELLING: "cancelling",
    Status.SUCCESS: "success",
}


def get_runs(session: Session, project: str, run_ids: Collection[RunId]) -> dict[RunId, Run]:
    rows = session.rows(SQL["get_runs"], (encode_names(run_ids),))
    return {run.id: run for run in (run_of(project, row) for row in rows)}


def page_runs(session: Session, project: str, only: RunFilter) -> list[Run]:
    return [run_of(project, row) for row in session.rows(page_query(only), page_values(project, only))]


def page_values(project: str, only: RunFilter) -> dict[str, object]:
    return {**only._asdict(), "project": project, "before": only.before or _AFTER_ALL}


def read_overrides(session: Session, run_id: RunId) -> bytes | None:
    return documents.read_overrides(session.value(SQL["overrides"], (run_id,)), run_id)


def page_query(only: RunFilter, columns: str = "page_runs") -> str:
    """The query for these filters; each kind of status has its own way to the rows, none goes through all history.

    `columns` is "page_runs" for whole runs, or "page_ids".
    """
    filters = [columns]
    if only.job_id is not None:
        filters.append("of_job")
    if only.schedule_id is not None:
        filters.append("of_schedule")
    if only.root_id is not None:
        filters.append("of_root")
    if only.status is not None:
        filters.append(_STATUS_FILTER.get(only.status, "rare_status"))
    return "\nAND ".join(SQL[name] for name in filters) + "\n" + SQL["newest_first"]


def read_attempts(session: Session, run_id: RunId) -> list[AttemptRecord]:
    return [attempt_of(row) for row in session.rows(SQL["attempts"], (run_id,))]
