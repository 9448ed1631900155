"""Finds all unreadable rows that belong to no ledger, for `verify`: jobs, workflows, open executions, and runs."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from foliot.domain.ids import RunId, first_id_at
from foliot.domain.instant import Instant
from foliot.domain.run.run import Run, Status
from foliot.domain.workflow.execution import Execution
from foliot.errors import RowUnreadable
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.service.paging import PAGE, each_of, job_id_of, page_of_jobs, page_of_workflows, workflow_id_of

_EXECUTIONS: Final = 200
_OPEN: Final = tuple(status for status in Status if not status.is_terminal)


async def unreadable_rows(storage: Storage, since: Instant) -> AsyncIterator[RowUnreadable]:
    """Yield each error once. Of runs, those that are open and those created after `since` are checked."""
    seen: set[str] = set()
    for rows in (_jobs(storage), _workflows(storage), _executions(storage), _runs(storage, since)):
        async for error in rows:
            if error.message not in seen:
                seen.add(error.message)
                yield error


async def _jobs(storage: Storage) -> AsyncIterator[RowUnreadable]:
    async for job in each_of(lambda after: page_of_jobs(storage, after, PAGE), job_id_of):
        if isinstance(job, RowUnreadable):
            yield job


async def _workflows(storage: Storage) -> AsyncIterator[RowUnreadable]:
    async for version in each_of(lambda after: page_of_workflows(storage, after, PAGE), workflow_id_of):
        if isinstance(version, RowUnreadable):
            yield version


async def _executions(storage: Storage) -> AsyncIterator[RowUnreadable]:
    executions = each_of(
        lambda after: storage.queries.active_executions(after=after, limit=_EXECUTIONS),
        lambda execution: execution.run_id,
    )
    async for execution in executions:
        for error in await _errors_of(storage, execution):
            yield error


async def _errors_of(storage: Storage, execution: Execution) -> Sequence[RowUnreadable]:
    """Return the errors that stop an execution: of its own row, its version, or one of its steps."""
    found = [] if execution.error is None else [execution.error]
    try:
        await storage.definitions.get_workflows([(execution.workflow_id, execution.version)])
    except RowUnreadable as error:
        found.append(error)
    try:
        await storage.queries.step_states(execution.run_id)
    except RowUnreadable as error:
        found.append(error)
    return found


async def _runs(storage: Storage, since: Instant) -> AsyncIterator[RowUnreadable]:
    oldest = RunId(first_id_at(since))
    page = await storage.queries.doubtful_runs(oldest)
    while True:
        for start in range(0, len(page.run_ids), PAGE):
            found = await storage.queries.get_runs(page.run_ids[start : start + PAGE])
            for run_id in sorted(found, reverse=True):
                if (error := found[run_id].unreadable) is not None:
                    yield error
        if page.before is None:
            break
        page = await storage.queries.doubtful_runs(oldest, before=page.before)
    for status in _OPEN:
        async for run in _newest_first(storage, RunFilter(status=status, before=oldest, limit=PAGE)):
            if run.unreadable is not None:
                yield run.unreadable


def _newest_first(storage: Storage, only: RunFilter) -> AsyncIterator[Run]:
    return each_of(
        lambda before: storage.queries.page_runs(only if before is None else only._replace(before=before)),
        lambda run: run.id,
    )
