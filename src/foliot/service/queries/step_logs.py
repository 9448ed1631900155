"""Follows the output of all steps of one execution or chain, each piece with the name of its step.

A step that is a workflow or a chain is followed too: its steps are named `step.inner`. The items of a step that is a
fanout are left out, because there may be very many.
A rerun does not include the output of the steps whose results it kept: their runs belong to the former execution.
"""

from collections.abc import AsyncIterator
from typing import Final, NamedTuple

from foliot.domain.chain.spec import CHAIN
from foliot.domain.ids import RunId
from foliot.domain.workflow.spec import GRAPH
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.service.event_reader import EventReader
from foliot.service.queries.logs import LogView, Pieces

_PAGE: Final = 500


class StepPiece(NamedTuple):
    step: str
    piece: LogView


class StepLogs:
    """Reads the logs of all steps and keeps its position: after an error, the same object continues there."""

    def __init__(self, storage: Storage, events: EventReader, execution_id: RunId, *, page: int = _PAGE) -> None:
        self._storage = storage
        self._events = events
        self._execution_id = execution_id
        self._page = page
        self._known: set[RunId] = set()
        self._executions: dict[RunId, str] = {execution_id: ""}
        """The execution and its nested executions, each with the prefix of the names of its steps."""
        self._open: dict[RunId, tuple[str, Pieces]] = {}
        """The runs that may still print."""
        self.is_over = False
        """Whether the execution had ended when it was last read, so that no more output follows."""

    async def follow(self) -> AsyncIterator[StepPiece]:
        """Yield all further pieces until the execution has ended."""
        async with self._events.watching(self._executions, Topic.LOGS) as watch:
            while True:
                watch.clear()
                async for piece in self.new():
                    yield piece
                if self.is_over:
                    return
                for run_id in (*self._executions, *self._open):
                    watch.add(run_id)
                await watch.wait()

    async def new(self) -> AsyncIterator[StepPiece]:
        """Yield the pieces printed since the last call, step by step."""
        # The runs are read before their logs: all output of a run that has ended is then in its log.
        is_over = await self._is_execution_over()
        await self._discover(is_over)
        runs = await self._storage.queries.get_runs(self._open)
        for run_id in sorted(self._open):
            step, pieces = self._open[run_id]
            if run_id in runs and runs[run_id].started_at is not None:
                async for piece in pieces.new(runs[run_id]):
                    yield StepPiece(step, piece)
            if run_id not in runs or runs[run_id].status.is_terminal:
                del self._open[run_id]
        self.is_over = is_over

    async def _is_execution_over(self) -> bool:
        found = await self._storage.queries.get_runs([self._execution_id])
        return self._execution_id not in found or found[self._execution_id].status.is_terminal

    async def _discover(self, is_last: bool) -> None:
        """Find new runs: among the newest ones, or, in the last call, among all."""
        pending = list(self._executions.items())
        while pending:
            execution_id, prefix = pending.pop()
            for run_id, name in await self._discover_steps(execution_id, prefix, is_last):
                self._executions[run_id] = f"{name}."
                pending.append((run_id, f"{name}."))

    async def _discover_steps(self, execution_id: RunId, prefix: str, is_last: bool) -> list[tuple[RunId, str]]:
        """Find new steps of one execution. Return those that are executions themselves, with their names."""
        inner: list[tuple[RunId, str]] = []
        only = RunFilter(parent_id=execution_id, limit=self._page)
        while page := await self._storage.queries.page_runs(only):
            new = [run for run in page if run.id not in self._known]
            for run in new:
                name = f"{prefix}{run.child_key}"
                self._known.add(run.id)
                self._open[run.id] = (name, Pieces(self._storage, run.id))
                if run.tree in (GRAPH, CHAIN):
                    inner.append((run.id, name))
            if not new and not is_last:
                break
            only = only._replace(before=page[-1].id)
        return inner
