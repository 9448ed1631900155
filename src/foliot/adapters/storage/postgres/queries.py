"""Read-only queries. Each page is read in one read-only transaction (`shared.stored_queries`)."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, ParamSpec, TypeVar

from foliot.adapters.storage.postgres.database.transaction import Database, Snapshot
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.shared.reads import (
    AllWorkers,
    Leader,
    LongLeases,
    PageOfRuns,
    Query,
    Read,
    Request,
    SizeOnDisk,
)
from foliot.adapters.storage.shared.rows import event_of
from foliot.adapters.storage.shared.run_rows import chunks_of, summary_of
from foliot.adapters.storage.shared.stored_queries import StoredQueries
from foliot.adapters.storage.shared.tree_rows import step_output_of
from foliot.domain.events import Event
from foliot.domain.ids import RunId, Token
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.run import TERMINAL, Status
from foliot.domain.workflow.output import StepOutput
from foliot.ports.pages import LogSummary, RunFilter
from foliot.ports.queries import MOST_BYTES

P = ParamSpec("P")
T = TypeVar("T")

_FAILURES: Final = TERMINAL - {Status.SUCCESS}
_EVENT_TRIES: Final = 20
_EVENT_PAUSE: Final = 0.01
_PAGES_OF_OPEN: Final = {
    Status.RUNNING: "page_running",
    Status.CANCELLING: "page_running",
    Status.QUEUED: "page_queued",
    Status.SCHEDULED: "page_scheduled",
}


class PostgresQueries(StoredQueries):
    """Fills `ports.queries.Queries`."""

    def __init__(self, database: Database, project: str) -> None:
        super().__init__(project)
        self._database = database
        self._project = project

    async def _read(self, read: Callable[P, Read[T]], *arguments: P.args, **options: P.kwargs) -> T:
        return await self._database.snapshot(lambda snapshot: self._drive(snapshot, read(*arguments, **options)))

    async def _read_without_snapshot(self, read: Callable[P, Read[T]], *arguments: P.args, **options: P.kwargs) -> T:
        # Without a transaction: beginning and ending one takes two round trips.
        return await self._drive(self._database, read(*arguments, **options))

    async def _drive(self, source: Database | Snapshot, read: Read[T]) -> T:
        try:
            request = next(read)
            while True:
                request = read.send(await self._rows(source, request))
        except StopIteration as done:
            answer: T = done.value
            return answer

    async def _rows(self, source: Database | Snapshot, request: Request) -> list[Any]:
        match request:
            case Query(name, values):
                return await source.rows(name, *values)
            case PageOfRuns(only):
                return await source.rows(*_page_of_runs(self._project, only))
            case AllWorkers():
                return await source.rows("all_workers", None)
            case Leader():
                return await source.rows("leader")
            case SizeOnDisk():
                return await source.rows("size_on_disk")
            case LongLeases(seen_after, limit):
                return await source.rows("long_leases", seen_after, limit)

    async def step_outputs(self, run_id: RunId, steps: Collection[str]) -> dict[str, StepOutput]:
        named = columns((run_id, step) for step in steps)
        return (
            {row[1]: step_output_of(row[2:]) for row in await self._database.rows("outputs", *named)} if named else {}
        )

    # -- logs and events

    async def read_log(
        self, run_id: RunId, *, after: tuple[Token, int] | None = None, limit: int = 1_000
    ) -> list[LogChunk]:
        token, seq = after or (-1, -1)
        return chunks_of(await self._database.rows("read_log", run_id, token, seq, limit))

    async def tail_log(self, run_id: RunId, *, limit: int) -> list[LogChunk]:
        return chunks_of(reversed(await self._database.rows("tail_log", run_id, limit)))

    async def log_summary(self, run_id: RunId, token: Token | None) -> LogSummary:
        async def read(snapshot: Snapshot) -> LogSummary:
            first = [] if token is None else await snapshot.rows("read_log", run_id, token, -1, 1)
            last = await snapshot.rows("tail_log", run_id, 1)
            return summary_of(await snapshot.rows("log_starts", run_id), first, last, token)

        return await self._database.snapshot(read)

    async def events(self, *, after: int, limit: int, size: int = MOST_BYTES) -> list[Event]:
        """Return events. Those behind an open transaction become visible soon, so a short wait saves another call."""
        for _ in range(_EVENT_TRIES):
            if found := await self._database.rows("events", after, limit, size):
                return [event_of(row) for row in found]
            if not await self._database.value("has_events", after):
                return []
            await asyncio.sleep(_EVENT_PAUSE)
        return []


def _page_of_runs(project: str, only: RunFilter) -> Sequence[Any]:
    """Return the name of the statement that selects the ids of the runs, and its values."""
    values = (project, only.before, only.limit, only.job_id, only.schedule_id, only.status)
    if only.root_id is not None:
        return "page_parts", *values, only.root_id
    is_failure = only.status in _FAILURES
    if only.parent_id is not None:
        return "page_children_trouble" if is_failure else "page_children", *values, only.parent_id
    if only.status is not None and not only.status.is_terminal:
        return _PAGES_OF_OPEN[only.status], *values, only.roots
    if only.roots and only.schedule_id is None and only.job_id is None:
        return "page_roots_trouble" if is_failure else "page_roots", *values
    if only.schedule_id is not None:
        return "page_schedule_trouble" if is_failure else "page_schedule", *values
    if only.job_id is not None:
        return "page_job_trouble" if is_failure else "page_job", *values
    return "page_trouble" if is_failure else "page_project", *values
