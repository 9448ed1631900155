"""Refuses to rename jobs that are in use (`adapters.storage.shared.renames`)."""

from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.database import Transaction
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
from foliot.domain.deploy.rename import Names


async def refuse_jobs_in_use(transaction: Transaction, project: str, names: Names, references: References) -> None:
    """Raise `JobInUse` if something that has not ended names one of these jobs."""
    await _refuse_open_executions(transaction, project, names, references)
    starting = opening_uses(names, references)
    for row in await transaction.rows("opening_that_names", project, list(starting)):
        raise used_by_opening(starting[row[1]], *row)
    gated = gate_uses(names, references)
    for row in await transaction.rows("gate_that_names", project, list(gated)):
        raise used_by_gate(gated[row[1]], *row)


async def _refuse_open_executions(transaction: Transaction, project: str, names: Names, references: References) -> None:
    uses = columns(execution_uses(names, references))
    for row in await transaction.rows("execution_that_names", project, *uses):
        raise used_by_execution(*row)
    for run_id, workflow_id, body in await transaction.rows("copies_that_name", project, common_text(names)):
        if (named := named_in_copies(body, names)) is not None:
            raise used_by_execution(named, run_id, workflow_id)
