"""The part of the storage that keeps workflows and their executions. See `ports.storage` for what all verbs promise."""

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.output import StepOutput
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.ports.definitions import Deployment


class WorkflowVersion(NamedTuple):
    """A stored version. It never changes, except that jobs which it names may be renamed."""

    workflow_id: str
    version: int
    spec: WorkflowSpec
    created_at: Instant


class Behind(NamedTuple):
    """The jobs behind a workflow, see `domain.workflow.jobs`."""

    jobs: set[JobId]
    """Those that are deleted with it."""
    doubtful: set[JobId]
    """Those that are named as its steps would be, if it cannot be read, and cannot be read either. They may be
    somebody's own, and stay."""


class WorkflowStore(Protocol):
    async def put(
        self, workflows: Mapping[str, WorkflowSpec], *, at: Instant | None = None
    ) -> dict[str, WorkflowVersion]:
        """Store each as a new version, counted from 1; one that equals the newest is that version again.

        A newest version that cannot be read equals nothing: whoever puts the workflow again adds one that can.
        """
        ...

    async def deploy(self, deployment: Deployment, *, at: Instant | None = None) -> dict[str, WorkflowVersion]:
        """Store workflows as `put` does, with the jobs behind them (`domain.workflow.jobs`) and schedules, and delete
        those schedules that are gone. All of it, or nothing."""
        ...

    async def delete(self, workflow_ids: Collection[str], *, at: Instant | None = None) -> list[str]:
        """Delete workflows with the jobs behind them and all schedules that start them, and cancel what has not begun.

        What has begun goes on, and history is kept, so versions can still be had by their numbers; only the newest is
        none any more. One that is put again goes on counting. Returns the ids that existed.

        The jobs behind a version that cannot be read are those parts of workflows that are named as its steps would
        be. See `behind`.
        """
        ...

    async def behind(self, workflow_id: str) -> Behind:
        """What `delete` would take along, and leave. Nothing, if there is no such workflow."""
        ...

    async def get(self, wanted: Collection[tuple[str, int | None]]) -> dict[tuple[str, int | None], WorkflowVersion]:
        """Those of the versions that exist; None asks for the newest. Raises `RowUnreadable` if one cannot be read."""
        ...

    async def page(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowVersion]:
        """The newest version of each workflow, by id. Raises `RowUnreadable`, naming the workflow, if one cannot be
        read."""
        ...

    async def pause_step(self, workflow_id: str, step: str, *, paused: bool) -> None:
        """A paused step resolves to skipped in executions that reach it."""
        ...

    async def paused_steps(self, workflow_id: str) -> set[str]: ...


class ExecutionStore(Protocol):
    """Looking at executions. Opening and settling them is `ports.trees`."""

    async def states(self, run_id: RunId, steps: Collection[str] | None = None) -> dict[str, StepState]:
        """The states of the named steps, or of all."""
        ...

    async def outputs(self, run_id: RunId, steps: Collection[str]) -> dict[str, StepOutput]:
        """What the runs of the named steps left behind."""
        ...

    async def get(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        """Those of the executions that exist. Raises `RowUnreadable` if one of them cannot be read."""
        ...

    async def look(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        """The same, to be shown or ended: one that cannot be read comes with its error, and with the rest of its
        row."""
        ...

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        """All steps, to be shown or ended. One that cannot be read says so, and what is left of it."""
        ...

    async def active(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> list[Execution]:
        """Executions that are not over, oldest first, those after `after`; as from `look`."""
        ...
