"""Looking at the executions of a PostgreSQL storage."""

from collections.abc import Callable, Collection

from foliot.adapters.storage.execution_rows import (
    execution_of,
    record_of,
    shown_state_of,
    sight_of,
    state_of,
    step_output_of,
)
from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.database import Database
from foliot.adapters.storage.rows import Row
from foliot.domain.ids import RunId
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.output import StepOutput
from foliot.domain.workflow.progress import StepState


class PostgresExecutions:
    """Fills `ports.executions.ExecutionStore`."""

    def __init__(self, database: Database, project: str) -> None:
        self._database = database
        self._project = project

    async def states(self, run_id: RunId, steps: Collection[str] | None = None) -> dict[str, StepState]:
        if steps is None:
            rows = await self._database.rows("all_states", run_id)
        else:
            rows = [row[1:] for row in await self._named("named_states", run_id, steps)]
        return {row[0]: state_of(row[0], row[1:]) for row in rows}

    async def outputs(self, run_id: RunId, steps: Collection[str]) -> dict[str, StepOutput]:
        return {row[1]: step_output_of(row[2:]) for row in await self._named("outputs", run_id, steps)}

    async def _named(self, query: str, run_id: RunId, steps: Collection[str]) -> list[Row]:
        named = columns((run_id, step) for step in steps)
        return await self._database.rows(query, *named) if named else []

    async def get(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        return await self._found(execution_of, run_ids)

    async def look(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        return await self._found(sight_of, run_ids)

    async def _found(self, make: Callable[[Row], Execution], run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        """Oldest first."""
        rows = await self._database.rows("get_executions", list(run_ids)) if run_ids else []
        return {execution.run_id: execution for execution in map(make, rows)}

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        return await step_records(self._database, run_id)

    async def active(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> list[Execution]:
        if workflow_id is None:
            rows = await self._database.rows("active_executions", after or "", limit)
        else:
            rows = await self._database.rows("active_of_workflow", self._project, workflow_id, after or "", limit)
        return list((await self.look([row[0] for row in rows])).values())


async def step_records(database: Database, run_id: RunId) -> list[StepRecord]:
    """All steps of a tree, with the runs they have."""
    rows = await database.rows("all_states", run_id)
    states = {row[0]: shown_state_of(row[0], row[1:]) for row in rows}
    run_ids = [state.run_id for state in states.values() if state.run_id is not None]
    found = await database.rows("get_runs", run_ids) if run_ids else []
    runs = {row["id"]: (row["status"], row["reason"], row["error"]) for row in found}
    return [record_of(name, state, runs.get(state.run_id)) for name, state in states.items()]
