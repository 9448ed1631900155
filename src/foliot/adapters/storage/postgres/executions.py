"""The executions of a PostgreSQL storage."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import groupby

from foliot.adapters.storage.execution_rows import (
    execution_of,
    note_of,
    record_of,
    shown_state_of,
    sight_of,
    state_of,
    step_facts_of,
)
from foliot.adapters.storage.postgres.admission import Admission
from foliot.adapters.storage.postgres.database import Database, Transaction, divide
from foliot.adapters.storage.postgres.finishing import finish_runs
from foliot.adapters.storage.postgres.settlements import open_executions, settle_executions
from foliot.adapters.storage.rows import Row
from foliot.adapters.storage.verdicts import unopened
from foliot.domain.ids import JobId, RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.limits import job_limit
from foliot.domain.workflow.execution import Execution, Opening, Settlement, StepFacts, StepRecord, Unsettled
from foliot.domain.workflow.progress import StepState


class PostgresExecutions:
    """Fills `ports.executions.ExecutionStore`."""

    def __init__(self, database: Database, admission: Admission, project: str) -> None:
        self._database = database
        self._admission = admission
        self._project = project

    # -- going on

    async def open(self, openings: Sequence[Opening], *, at: Instant | None = None) -> list[Token]:
        if not openings:
            return []
        saved = dict(await divide(openings, partial(self._open, at=at)))
        refused = [opening for opening in openings if opening.claim.token not in saved]
        saved |= {opening.claim.token: await self._refuse(opening, at) for opening in refused}
        return [opening.claim.token for opening in openings if not saved[opening.claim.token]]

    async def _open(self, openings: Sequence[Opening], at: Instant | None) -> list[tuple[Token, bool]]:
        async def work(transaction: Transaction) -> tuple[list[Token], set[str]]:
            now = await transaction.now(at)
            return await open_executions(transaction, self._project, openings, now), transaction.keys

        stale, keys = await self._database.write("open", work)
        await self._admission.follow(keys, at)
        return [(opening.claim.token, opening.claim.token not in stale) for opening in openings]

    async def _refuse(self, opening: Opening, at: Instant | None) -> bool:
        """End the run of an execution that cannot be stored. Whether its token was current."""

        async def work(transaction: Transaction) -> tuple[list[Token], set[str]]:
            return await finish_runs(transaction, [unopened(opening.claim)], at), transaction.keys

        stale, keys = await self._database.write("finish", work)
        await self._admission.follow(keys, at)
        return not stale

    async def settle(self, settlements: Sequence[Settlement], *, at: Instant | None = None) -> list[RunId]:
        return await divide(settlements, partial(self._settle, at=at)) if settlements else []

    async def _settle(self, settlements: Sequence[Settlement], at: Instant | None) -> list[RunId]:
        async def work(transaction: Transaction) -> tuple[list[RunId], set[str]]:
            now = await transaction.now(at)
            return await settle_executions(transaction, self._project, settlements, now), transaction.keys

        saved, keys = await self._database.write("settle_executions", work)
        await self._admission.follow(keys, at)
        return saved

    async def unsettled(self, limit: int, *, at: Instant | None = None) -> list[Unsettled]:
        """The executions are read before their notes: what somebody settles in between has raised their state."""
        now = await self._database.now(at)
        noted = await self._database.rows("roots_with_notes", limit)
        overdue = await self._database.rows("overdue_executions", now, limit)
        roots = list(dict.fromkeys(row[0] for row in (*noted, *overdue)))[:limit]
        executions = await self._database.rows("get_executions", roots) if roots else []
        if not executions:
            return []
        rows = await self._database.rows("notes_of", roots)
        notes = {root: [note_of(row[1:]) for row in group] for root, group in groupby(rows, key=lambda row: row[0])}
        return [Unsettled(sight_of(row), notes.get(row[0], []), now) for row in executions]

    # -- being looked at

    async def states(self, run_id: RunId, steps: Collection[str] | None = None) -> dict[str, StepState]:
        if steps is None:
            rows = await self._database.rows("all_states", run_id)
        else:
            rows = await self._database.rows("named_states", run_id, list(steps))
        return {row[0]: state_of(row[0], row[1:]) for row in rows}

    async def facts(self, run_id: RunId, steps: Collection[str]) -> dict[str, StepFacts]:
        rows = await self._database.rows("facts", run_id, list(steps))
        return {row[0]: step_facts_of(row[1:]) for row in rows}

    async def busy(self, job_ids: Collection[JobId]) -> set[JobId]:
        keys = {job_limit(job_id, 1).key: job_id for job_id in job_ids}
        return {keys[row[0]] for row in await self._database.rows("busy_keys", list(keys))}

    async def get(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        return await self._found(execution_of, run_ids)

    async def look(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        return await self._found(sight_of, run_ids)

    async def _found(self, make: Callable[[Row], Execution], run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        """Oldest first."""
        rows = await self._database.rows("get_executions", list(run_ids)) if run_ids else []
        return {execution.run_id: execution for execution in map(make, rows)}

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        rows = await self._database.rows("all_states", run_id)
        states = {row[0]: shown_state_of(row[0], row[1:]) for row in rows}
        run_ids = [state.run_id for state in states.values() if state.run_id is not None]
        found = await self._database.rows("get_runs", run_ids) if run_ids else []
        runs = {row["id"]: (row["status"], row["reason"], row["error"]) for row in found}
        return [record_of(name, state, runs.get(state.run_id)) for name, state in states.items()]

    async def active(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> list[Execution]:
        if workflow_id is None:
            rows = await self._database.rows("active_executions", after or "", limit)
        else:
            rows = await self._database.rows("active_of_workflow", self._project, workflow_id, after or "", limit)
        return list((await self.look([row[0] for row in rows])).values())
