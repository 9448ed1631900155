"""Refuses to rename jobs that are in use (`adapters.storage.shared.renames`)."""

from pathlib import Path
from typing import Final

from foliot.adapters.storage.shared.documents import encode, encode_names
from foliot.adapters.storage.shared.renames import (
    References,
    common_text,
    execution_uses,
    gate_uses,
    named_in_copies,
    opening_uses,
    used_by_execution,
    used_by_gate,
    used_by_opening,
)
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.domain.deploy.rename import Names

SQL: Final = load_queries(Path(__file__).parent / "sql" / "job_use.sql")


def refuse_jobs_in_use(tx: Transaction, project: str, names: Names, references: References) -> None:
    """Raise `JobInUse` if something that has not ended names one of these jobs."""
    _refuse_open_executions(tx, project, names, references)
    starting = opening_uses(names, references)
    if (row := tx.row(SQL["opening_that_names"], (project, encode_names(starting)))) is not None:
        raise used_by_opening(starting[row[1]], *row)
    gated = gate_uses(names, references)
    if (row := tx.row(SQL["gate_that_names"], (project, encode_names(gated)))) is not None:
        raise used_by_gate(gated[row[1]], *row)


def _refuse_open_executions(tx: Transaction, project: str, names: Names, references: References) -> None:
    row = tx.row(SQL["execution_that_names"], (project, encode(execution_uses(names, references))))
    if row is not None:
        raise used_by_execution(*row)
    for run_id, workflow_id, jobs in tx.rows(SQL["copies_that_name"], (project, common_text(names))):
        if (named := named_in_copies(jobs, names)) is not None:
            raise used_by_execution(named, run_id, workflow_id)
