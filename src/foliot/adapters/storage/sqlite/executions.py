"""Looking at executions of workflows."""

from collections.abc import Callable, Collection

from foliot.adapters.storage.documents import encode_names
from foliot.adapters.storage.execution_rows import execution_of, sight_of, state_of, step_output_of
from foliot.adapters.storage.rows import Row
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.connection import Session
from foliot.adapters.storage.sqlite.tree_reads import SQL, read_steps
from foliot.domain.ids import RunId
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.output import StepOutput
from foliot.domain.workflow.progress import StepState


class SqliteExecutions:
    """Fills `ports.executions.ExecutionStore`."""

    def __init__(self, access: Access) -> None:
        _, self._reader, _, self._project = access

    async def states(self, run_id: RunId, steps: Collection[str] | None = None) -> dict[str, StepState]:
        return await self._reader.read(lambda session: _states(session, run_id, steps))

    async def outputs(self, run_id: RunId, steps: Collection[str]) -> dict[str, StepOutput]:
        def look(session: Session) -> dict[str, StepOutput]:
            rows = session.rows(SQL["outputs"], (run_id, encode_names(steps)))
            return {step: step_output_of(rest) for step, *rest in rows}

        return await self._reader.read(look)

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        return await self._reader.read(lambda session: read_steps(session, run_id))

    async def get(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        return await self._reader.read(lambda session: _found(execution_of, session, run_ids))

    async def look(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        return await self._reader.read(lambda session: _found(sight_of, session, run_ids))

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
