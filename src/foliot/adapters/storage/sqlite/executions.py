"""The verbs about executions."""

from collections.abc import Callable, Collection, Sequence
from itertools import groupby

from foliot.adapters.storage.documents import encode_names
from foliot.adapters.storage.execution_rows import (
    execution_of,
    note_of,
    record_of,
    shown_state_of,
    sight_of,
    state_of,
    step_facts_of,
)
from foliot.adapters.storage.rows import Row
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.adapters.storage.sqlite.settlements import SQL, open_all, settle_all
from foliot.domain.ids import JobId, RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.limits import job_limit
from foliot.domain.workflow.execution import Execution, Opening, Settlement, StepFacts, StepRecord, Unsettled
from foliot.domain.workflow.progress import StepState


class SqliteExecutions:
    """Fills `ports.executions.ExecutionStore`."""

    def __init__(self, access: Access) -> None:
        self._writer, self._reader, self._clock, self._project = access

    async def open(self, openings: Sequence[Opening], *, at: Instant | None = None) -> list[Token]:
        def work(tx: Transaction) -> list[Token]:
            return open_all(tx, self._project, openings, tx.now(at))

        return await self._writer.submit("open", work)

    async def settle(self, settlements: Sequence[Settlement], *, at: Instant | None = None) -> list[RunId]:
        def work(tx: Transaction) -> list[RunId]:
            return settle_all(tx, self._project, settlements, tx.now(at))

        return await self._writer.submit("settle_executions", work)

    async def unsettled(self, limit: int, *, at: Instant | None = None) -> list[Unsettled]:
        now = self._clock.now() if at is None else at
        return await self._reader.read(lambda session: _unsettled(session, limit, now))

    async def states(self, run_id: RunId, steps: Collection[str] | None = None) -> dict[str, StepState]:
        return await self._reader.read(lambda session: _states(session, run_id, steps))

    async def facts(self, run_id: RunId, steps: Collection[str]) -> dict[str, StepFacts]:
        def look(session: Session) -> dict[str, StepFacts]:
            rows = session.rows(SQL["facts"], (run_id, encode_names(steps)))
            return {step: step_facts_of(rest) for step, *rest in rows}

        return await self._reader.read(look)

    async def busy(self, job_ids: Collection[JobId]) -> set[JobId]:
        keys = {job_limit(job_id, 1).key: job_id for job_id in job_ids}

        def look(session: Session) -> set[JobId]:
            return {keys[key] for (key,) in session.rows(SQL["busy_keys"], (encode_names(keys),))}

        return await self._reader.read(look)

    async def get(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        return await self._reader.read(lambda session: _found(execution_of, session, run_ids))

    async def look(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        return await self._reader.read(lambda session: _found(sight_of, session, run_ids))

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        def look(session: Session) -> list[StepRecord]:
            runs = {step: run for step, *run in session.rows(SQL["step_runs"], (run_id,))}
            states = [(step, shown_state_of(step, rest)) for step, *rest in session.rows(SQL["all_states"], (run_id,))]
            return [record_of(name, state, runs.get(name)) for name, state in states]

        return await self._reader.read(look)

    async def active(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> list[Execution]:
        def look(session: Session) -> list[Execution]:
            if workflow_id is None:
                rows = session.rows(SQL["active_executions"], (after or "", limit))
            else:
                rows = session.rows(SQL["active_of_workflow"], (self._project, workflow_id, after or "", limit))
            return list(_found(sight_of, session, [run_id for (run_id,) in rows]).values())

        return await self._reader.read(look)


def _unsettled(session: Session, limit: int, now: Instant) -> list[Unsettled]:
    noted = session.rows(SQL["roots_with_notes"], (limit,))
    overdue = session.rows(SQL["overdue_executions"], (now, limit))
    roots = list(dict.fromkeys(run_id for (run_id,) in (*noted, *overdue)))[:limit]
    rows = session.rows(SQL["notes_of"], (encode_names(roots),))
    notes = {root: [note_of(row[1:]) for row in group] for root, group in groupby(rows, key=lambda row: row[0])}
    found = session.rows(SQL["get_executions"], (encode_names(roots),))
    return [Unsettled(sight_of(row), notes.get(row[0], []), now) for row in found]


def _states(session: Session, run_id: RunId, steps: Collection[str] | None) -> dict[str, StepState]:
    if steps is None:
        rows = session.rows(SQL["all_states"], (run_id,))
    else:
        rows = session.rows(SQL["named_states"], (run_id, encode_names(steps)))
    return {step: state_of(step, rest) for step, *rest in rows}


def _found(make: Callable[[Row], Execution], session: Session, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
    """Oldest first."""
    rows = session.rows(SQL["get_executions"], (encode_names(run_ids),))
    return {execution.run_id: execution for execution in map(make, rows)}
