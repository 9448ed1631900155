"""Rows that cannot be read and belong to no ledger: jobs, workflows, and executions that are not over.

Whoever lists them sees them, each in its place; here they are all, for `verify`.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from foliot.domain.workflow.execution import Execution
from foliot.errors import RowUnreadable
from foliot.ports.storage import Storage
from foliot.service.paging import PAGE, each_of, job_id_of, page_of_jobs, page_of_workflows, workflow_id_of

_EXECUTIONS: Final = 200


async def unreadable_rows(storage: Storage) -> AsyncIterator[RowUnreadable]:
    """Each once, whatever depends on it."""
    async for job in each_of(lambda after: page_of_jobs(storage, after, PAGE), job_id_of):
        if isinstance(job, RowUnreadable):
            yield job
    told: set[str] = set()
    async for version in each_of(lambda after: page_of_workflows(storage, after, PAGE), workflow_id_of):
        if isinstance(version, RowUnreadable):
            told.add(version.message)
            yield version
    executions = each_of(
        lambda after: storage.executions.active(after=after, limit=_EXECUTIONS), lambda execution: execution.run_id
    )
    async for execution in executions:
        for error in await _trouble(storage, execution):
            if error.message not in told:
                told.add(error.message)
                yield error


async def _trouble(storage: Storage, execution: Execution) -> Sequence[RowUnreadable]:
    """What keeps an execution from going on: its own row, that of its version, or one of its steps."""
    found = [] if execution.error is None else [execution.error]
    try:
        await storage.workflows.get([(execution.workflow_id, execution.version)])
    except RowUnreadable as error:
        found.append(error)
    try:
        await storage.executions.states(execution.run_id)
    except RowUnreadable as error:
        found.append(error)
    return found
