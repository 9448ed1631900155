"""All that only reads. Pages are read in one read-only transaction each (`shared.stored_queries`)."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, ParamSpec, TypeVar

from foliot.adapters.storage.postgres.database.transaction import Database, Snapshot
from foliot.adapters.storage.postgres.database.values import by_uid, columns
from foliot.adapters.storage.shared.documents import read_overrides
from foliot.adapters.storage.shared.reads import AllWorkers, Ask, PageOfRuns, Query, Read
from foliot.adapters.storage.shared.rows import Row, event_of, ledger_of, tick_of
from foliot.adapters.storage.shared.run_rows import attempt_of, chunks_of, kept_from, run_of, summary_of
from foliot.adapters.storage.shared.stored_queries import StoredQueries
from foliot.adapters.storage.shared.tree_rows import sight_of, state_of, step_output_of
from foliot.domain.events import Event
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid, Token
from foliot.domain.instant import Instant
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.run import TERMINAL, AttemptRecord, Run, Status
from foliot.domain.schedule.tick import TickRecord
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.facts import StepOutput
from foliot.domain.workflow.progress import StepState
from foliot.ports.queries import LogSummary, RunFilter, ScheduleLedger

P = ParamSpec("P")
T = TypeVar("T")

_TROUBLE: Final = TERMINAL - {Status.SUCCESS}
_EVENT_TRIES: Final = 20
_EVENT_PAUSE: Final = 0.01


class PostgresQueries(StoredQueries):
    """Fills `ports.queries.Queries`."""

    def __init__(self, database: Database, project: str) -> None:
        super().__init__(project)
        self._database = database
        self._project = project

    async def _read(self, read: Callable[P, Read[T]], *arguments: P.args, **options: P.kwargs) -> T:
        return await self._database.snapshot(lambda snapshot: self._drive(snapshot, read(*arguments, **options)))

    async def _drive(self, snapshot: Snapshot, read: Read[T]) -> T:
        try:
            ask = next(read)
            while True:
                ask = read.send(await self._rows(snapshot, ask))
        except StopIteration as done:
            answer: T = done.value
            return answer

    async def _rows(self, snapshot: Snapshot, ask: Ask) -> list[Any]:
        match ask:
            case Query(name, values):
                return await snapshot.rows(name, *values)
            case PageOfRuns(only):
                return await snapshot.rows(*_page_of_runs(self._project, only))
            case AllWorkers():
                return await snapshot.rows("all_workers", None)

    # -- runs and executions by id

    async def get_runs(self, run_ids: Collection[RunId]) -> dict[RunId, Run]:
        rows = await self._database.rows("get_runs", list(run_ids)) if run_ids else []
        return {run.id: run for run in (run_of(self._project, row) for row in rows)}

    async def page_runs(self, only: RunFilter) -> list[Run]:
        run_ids = [row[0] for row in await self._database.rows(*_page_of_runs(self._project, only))]
        found = await self.get_runs(run_ids)
        return [found[run_id] for run_id in run_ids if run_id in found]

    async def overrides(self, run_id: RunId) -> bytes | None:
        rows = await self._database.rows("overrides", [run_id])
        return read_overrides(rows[0][1] if rows else None, run_id)

    async def attempts(self, run_id: RunId) -> list[AttemptRecord]:
        return [attempt_of(row) for row in await self._database.rows("attempts", run_id)]

    async def get_executions(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        """Oldest first."""
        rows = await self._database.rows("get_executions", list(run_ids)) if run_ids else []
        return {execution.run_id: execution for execution in map(sight_of, rows)}

    async def active_executions(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> list[Execution]:
        if workflow_id is None:
            rows = await self._database.rows("active_executions", after or "", limit)
        else:
            rows = await self._database.rows("active_of_workflow", self._project, workflow_id, after or "", limit)
        return list((await self.get_executions([row[0] for row in rows])).values())

    async def step_states(self, run_id: RunId, steps: Collection[str] | None = None) -> dict[str, StepState]:
        if steps is None:
            rows = await self._database.rows("all_states", run_id)
        else:
            rows = [row[1:] for row in await self._of_steps("named_states", run_id, steps)]
        return {row[0]: state_of(row[0], row[1:]) for row in rows}

    async def step_outputs(self, run_id: RunId, steps: Collection[str]) -> dict[str, StepOutput]:
        return {row[1]: step_output_of(row[2:]) for row in await self._of_steps("outputs", run_id, steps)}

    async def _of_steps(self, query: str, run_id: RunId, steps: Collection[str]) -> list[Row]:
        return await self._database.rows(query, *columns((run_id, step) for step in steps)) if steps else []

    # -- the ledger

    async def ticks(self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int) -> list[TickRecord]:
        return [tick_of(row) for row in await self._database.rows("ticks", uid, after, until, limit)]

    async def tick_keys(
        self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int
    ) -> list[tuple[Instant, str]]:
        return [(moment, key) for moment, key in await self._database.rows("tick_keys", uid, after, until, limit)]

    async def shared_runs(self, uid: ScheduleUid, *, after: Instant) -> list[RunId]:
        return [RunId(run_id) for (run_id,) in await self._database.rows("shared_runs", uid, after)]

    async def ledgers(
        self, *, after: ScheduleUid | None = None, limit: int = 100, ids: Collection[ScheduleId] | None = None
    ) -> list[ScheduleLedger]:
        query, wanted = ("ledgers", None) if ids is None else ("ledgers_of", list(ids))
        rows = await self._database.rows(query, self._project, after, limit, wanted)
        uids = [row["uid"] for row in rows]
        belongings = [
            by_uid(await self._database.rows(name, uids)) if uids else {}
            for name in ("revisions", "pauses", "planned_ticks")
        ]
        return [
            ledger_of(self._project, row[:-1], row["deleted_at"], *(one.get(row["uid"], ()) for one in belongings))
            for row in rows
        ]

    # -- logs and events

    async def read_log(
        self, run_id: RunId, *, after: tuple[Token, int] | None = None, limit: int = 1_000
    ) -> list[LogChunk]:
        token, seq = after or (-1, -1)
        return chunks_of(await self._database.rows("read_log", run_id, token, seq, limit))

    async def tail_log(self, run_id: RunId, *, limit: int) -> list[LogChunk]:
        return chunks_of(reversed(await self._database.rows("tail_log", run_id, limit)))

    async def log_summary(self, run_id: RunId, token: Token | None) -> LogSummary:
        async def look(snapshot: Snapshot) -> LogSummary:
            first = [] if token is None else await snapshot.rows("read_log", run_id, token, -1, 1)
            last = await snapshot.rows("tail_log", run_id, 1)
            return summary_of(await snapshot.rows("log_starts", run_id), first, last, token)

        return await self._database.snapshot(look)

    async def logs_kept_from(self) -> Instant | None:
        return kept_from(await self._database.value("logs_kept_from"))

    async def events(self, *, after: int, limit: int) -> list[Event]:
        """Events that wait for a transaction under way are mostly free soon: a short wait saves the caller a round."""
        for _ in range(_EVENT_TRIES):
            if found := await self._database.rows("events", after, limit):
                return [event_of(row) for row in found]
            if not await self._database.value("has_events", after):
                return []
            await asyncio.sleep(_EVENT_PAUSE)
        return []


def _page_of_runs(project: str, only: RunFilter) -> Sequence[Any]:
    """The name of the statement that finds the ids of the runs, and its values."""
    values = (project, only.before, only.limit, only.job_id, only.schedule_id, only.status)
    if only.root_id is not None:
        return "page_parts", *values, only.root_id
    if only.status is not None and not only.status.is_terminal:
        return "page_live", *values
    is_trouble = only.status in _TROUBLE
    if only.schedule_id is not None:
        return "page_schedule_trouble" if is_trouble else "page_schedule", *values
    if only.job_id is not None:
        return "page_job_trouble" if is_trouble else "page_job", *values
    return "page_trouble" if is_trouble else "page_project", *values
