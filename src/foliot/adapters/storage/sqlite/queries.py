"""Read-only queries. Each call reads one snapshot."""

from collections.abc import Callable, Collection
from pathlib import Path
from shutil import disk_usage
from typing import Final, ParamSpec, TypeVar

from foliot.adapters.storage.shared.documents import encode, encode_names
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
from foliot.adapters.storage.sqlite.database.context import Context
from foliot.adapters.storage.sqlite.database.session import SQL, Row, Session
from foliot.domain.events import Event
from foliot.domain.ids import RunId, Token
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.reference import RunById, RunReference
from foliot.domain.run.run import Status
from foliot.domain.workflow.output import StepOutput
from foliot.ports.pages import FoundRun, LogSummary, Matches, RunFilter
from foliot.ports.queries import MOST_BYTES

P = ParamSpec("P")
T = TypeVar("T")

_AFTER_ALL: Final = "~"
_BEFORE_ALL: Final = (-1, -1)
_STATUS_FILTER: Final = {
    Status.SCHEDULED: "scheduled",
    Status.QUEUED: "queued",
    Status.RUNNING: "running",
    Status.CANCELLING: "cancelling",
    Status.SUCCESS: "success",
}


class SqliteQueries(StoredQueries):
    """Fills `ports.queries.Queries`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.project)
        self._context = context

    async def find_run(self, reference: RunReference) -> FoundRun | Matches:
        if isinstance(reference, RunById):
            return self._context.reader.peek(lambda session: self._drive(session, self._runs.find(reference)))
        return await super().find_run(reference)

    async def step_outputs(self, run_id: RunId, steps: Collection[str]) -> dict[str, StepOutput]:
        rows = await self._context.reader.read(
            lambda session: session.rows(SQL["outputs"], (run_id, encode_names(steps)))
        )
        return {step: step_output_of(rest) for step, *rest in rows}

    async def read_log(
        self, run_id: RunId, *, after: tuple[Token, int] | None = None, limit: int = 1_000
    ) -> list[LogChunk]:
        values = (run_id, *(after or _BEFORE_ALL), limit)
        return chunks_of(await self._context.logs.rows(SQL["read_log"], values))

    async def tail_log(self, run_id: RunId, *, limit: int) -> list[LogChunk]:
        return chunks_of(reversed(await self._context.logs.rows(SQL["tail_log"], (run_id, limit))))

    async def log_summary(self, run_id: RunId, token: Token | None) -> LogSummary:
        def read(session: Session) -> LogSummary:
            first = () if token is None else session.rows(SQL["read_log"], (run_id, token, -1, 1))
            last = session.rows(SQL["tail_log"], (run_id, 1))
            return summary_of(session.rows(SQL["log_starts"], (run_id,)), first, last, token)

        return await self._context.logs.read(read, missing=LogSummary([], None, None))

    async def events(self, *, after: int, limit: int, size: int = MOST_BYTES) -> list[Event]:
        values = {"after": after, "limit": limit, "size": size}
        rows = await self._context.reader.read(lambda session: session.rows(SQL["events"], values))
        return [event_of(row) for row in rows]

    async def _read(self, read: Callable[P, Read[T]], *arguments: P.args, **options: P.kwargs) -> T:
        return await self._context.reader.read(lambda session: self._drive(session, read(*arguments, **options)))

    def _drive(self, session: Session, read: Read[T]) -> T:
        try:
            request = next(read)
            while True:
                request = read.send(self._rows(session, request))
        except StopIteration as done:
            answer: T = done.value
            return answer

    def _rows(self, session: Session, request: Request) -> list[Row]:
        match request:
            case Query(name, values):
                return session.rows(SQL[name], [encode(one) if isinstance(one, list) else one for one in values])
            case PageOfRuns(only):
                named = {**only._asdict(), "project": self._context.project, "before": only.before or _AFTER_ALL}
                return session.rows(page_query(only), named)
            case AllWorkers():
                clock = self._context.clock
                return session.rows(SQL["all_workers"], (clock.boot_id, clock.elapsed()))
            case Leader():
                clock = self._context.clock
                return session.rows(SQL["leader"], (clock.boot_id, clock.elapsed()))
            case SizeOnDisk():
                path = self._context.reader.path
                return [(_bytes(path), _bytes(Path(f"{path}-logs")), disk_usage(path.parent).free, "sqlite")]
            case LongLeases():
                return []  # leases expire by the time since boot


def _bytes(path: Path) -> int:
    """Return the size of a database file with its write-ahead log; 0 if it does not exist."""
    files = (path, Path(f"{path}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def page_query(only: RunFilter) -> str:
    """Return the query for these filters. Each kind of status has its own index, so no query scans all history."""
    filters = [_beginning(only)]
    if only.roots and filters == ["page_ids"]:
        filters.append("of_roots")
    if only.job_id is not None:
        filters.append("of_job")
    if only.schedule_id is not None:
        filters.append("of_schedule")
    if only.root_id is not None:
        filters.append("of_root")
    if only.parent_id is not None:
        filters.append("of_parent")
    if only.status is not None:
        filters.append(_STATUS_FILTER.get(only.status, "rare_status"))
    return "\nAND ".join(SQL[name] for name in filters) + "\n" + SQL["newest_first"]


def _beginning(only: RunFilter) -> str:
    """Return the first part of the query. Roots of all jobs, and children without success, have their own indexes."""
    is_rare = only.status is not None and only.status not in _STATUS_FILTER
    if only.parent_id is not None and is_rare:
        return "page_rare_children"
    named = (only.job_id, only.schedule_id, only.root_id, only.parent_id)
    if not only.roots or any(one is not None for one in named):
        return "page_ids"
    if is_rare:
        return "page_rare_roots"
    return "page_roots" if only.status in (None, Status.SUCCESS) else "page_ids"
