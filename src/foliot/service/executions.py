"""Starts executions of workflows, acts on them, and tells what became of them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from foliot.domain.ids import RunId
from foliot.domain.instant import to_datetime
from foliot.domain.outcome import Reason
from foliot.domain.run import Ended, Run, Status
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.graph import graph_of
from foliot.domain.workflow.keeping import Kept, asked_about, keep, kept_in
from foliot.domain.workflow.progress import run_again
from foliot.domain.workflow.start import Start, Told, read_params
from foliot.errors import InvalidRun, NotFound
from foliot.ports.storage import Storage
from foliot.service.desk import Desk, Request
from foliot.service.overview import told_of
from foliot.service.views import key_of
from foliot.service.workflows import Workflows


class StepView(msgspec.Struct, frozen=True, kw_only=True):
    """A step of an execution. `result` is None while it is pending, `status` None while it has no run."""

    name: str
    result: str | None
    status: str | None
    run_id: str | None
    reason: str
    blockers: list[str]
    """Steps whose result kept it from running."""
    cause: str | None = None
    """Why its run ended as it did: exception, exit_code, timeout and so on."""
    error: str | None = None
    """What its run failed with."""


class ExecutionView(msgspec.Struct, frozen=True, kw_only=True):
    """One passage through a workflow, as it is at this moment: changing the value changes nothing."""

    id: str
    workflow_id: str
    version: int
    status: str
    params: dict[str, Any]
    scheduled_for: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    user_id: str | None
    """For whom it was started."""
    idempotency_key: str | None
    """That of its tick, or the one that a launcher was given."""
    error: str | None
    """Why it failed; of one that is not over, which row of it cannot be read."""
    steps: list[StepView]

    @property
    def results(self) -> dict[str, str | None]:
        """What each step has come to."""
        return {step.name: step.result for step in self.steps}


class Executions:
    """Where executions are asked for."""

    def __init__(self, storage: Storage, workflows: Workflows, desk: Desk) -> None:
        self._storage = storage
        self._workflows = workflows
        self._desk = desk

    async def start(
        self,
        workflow_id: str,
        params: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        user_id: str | None = None,
        idempotency_key: str | None = None,
        request: Request | None = None,
    ) -> RunId:
        """Begin an execution of the newest version, or of the one that is named, and return its id."""
        found = await self._workflows.get(workflow_id, version)
        read_params(found.spec, params)
        start = Start(version=found.version, user_id=user_id, idempotency_key=idempotency_key)
        return await self._begin(workflow_id, start, msgspec.structs.replace(request or Request(), payload=params))

    async def rerun(self, execution_id: str, steps: Collection[str] = (), *, marked: Collection[str] = ()) -> RunId:
        """A new execution that keeps the results of another one, except from the named steps on.

        Without steps it begins at those that failed. Steps in `marked` count as successes.
        """
        before = await self.execution(execution_id)
        self._refuse_unfinished(before)
        failed = [step.name for step in before.steps if step.result == "failure"]
        begin = tuple(steps) or (() if marked else tuple(failed))
        self._refuse_strangers(before, [*begin, *marked])
        if not begin and not marked:
            raise InvalidRun(f"no step of execution {execution_id} has failed", hint="Name the steps to begin at.")
        start = Start(
            version=before.version,
            rerun_of=RunId(before.id),
            steps=begin,
            marked=tuple(marked),
            user_id=before.user_id,
        )
        start = msgspec.structs.replace(start, kept=await self._kept(before, start))
        return await self._begin(before.workflow_id, start, Request(payload=before.params or None))

    async def _kept(self, before: ExecutionView, start: Start) -> dict[str, Kept]:
        """What steps that are not run again left behind, as far as the others may ask for it."""
        spec, run_id = (await self._workflows.get(before.workflow_id, before.version)).spec, RunId(before.id)
        states = await self._storage.executions.states(run_id)
        again = run_again(graph_of(spec.steps), states, start=start.steps, marked=start.marked)
        asked = asked_about(spec) - again
        if not asked:
            return {}
        found = await self._storage.executions.facts(run_id, asked)
        stored = await self._storage.runs.get([facts.run_id for facts in found.values() if facts.run_id is not None])
        for run in stored.values():
            if run.unreadable is not None:
                raise run.unreadable
        return keep(before.id, found, kept_in(await self._storage.runs.overrides(run_id)), stored)

    async def mark_step(self, execution_id: str, step: str) -> RunId:
        """Let a step count as a success: one that waits at once, one that has failed by a new execution after it.

        The id of the execution that goes on comes back.
        """
        execution = await self.execution(execution_id)
        self._refuse_strangers(execution, [step])
        state = next(known for known in execution.steps if known.name == step)
        if state.result is None and state.run_id is not None:
            await self._desk.mark(state.run_id)
            return RunId(execution.id)
        return await self.rerun(execution_id, marked=[step])

    async def answer(self, execution_id: str, step: str, *, approve: bool, by: str | None = None) -> None:
        """Approve or reject a step that waits for a person."""
        execution = await self.execution(execution_id)
        self._refuse_strangers(execution, [step])
        ended = _approved(by) if approve else _rejected(by)
        run_id = (await self._questions(execution)).get(step)
        if run_id is None or not await self._storage.runs.answer({run_id: ended}):
            raise InvalidRun(f'step "{step}" does not wait for an answer', hint=f"Look at: foliot show {execution_id}")

    async def _questions(self, execution: ExecutionView) -> dict[str, RunId]:
        """The runs of steps that ask a person. Other work that waits is not answered: it would never be done."""
        spec = (await self._workflows.get(execution.workflow_id, execution.version)).spec
        asking = {step.name for step in spec.steps if step.approval is not None}
        return {step.name: RunId(step.run_id) for step in execution.steps if step.run_id and step.name in asking}

    async def execution(self, execution_id: str) -> ExecutionView:
        found = await self.status(execution_id)
        if found is None:
            raise NotFound("execution", execution_id)
        return found

    async def status(self, execution_id: str) -> ExecutionView | None:
        """An execution with all its steps; None when there is none of that id."""
        run_id = RunId(execution_id)
        executions = await self._storage.executions.look([run_id])
        runs = await self._storage.runs.get([run_id])
        if run_id not in executions or run_id not in runs:
            return None
        steps, told = await self._storage.executions.steps(run_id), await told_of(self._storage, run_id)
        return _view(executions[run_id], runs[run_id], steps, told)

    async def active(self, *, workflow_id: str | None = None, limit: int = 100) -> list[ExecutionView]:
        """Executions that are not over, oldest first."""
        found = await self._storage.executions.active(workflow_id=workflow_id, limit=limit)
        views = [await self.status(execution.run_id) for execution in found]
        return [view for view in views if view is not None]

    async def _begin(self, workflow_id: str, start: Start, request: Request) -> RunId:
        extra = {"start": msgspec.to_builtins(start)}
        [created] = await self._desk.enqueue(workflow_id, msgspec.structs.replace(request, extra=extra))
        return created.run_id

    def _refuse_unfinished(self, execution: ExecutionView) -> None:
        if not Status(execution.status).is_terminal:
            raise InvalidRun(
                f"execution {execution.id} is not over", hint=f"Wait for it, or: foliot cancel {execution.id}"
            )

    def _refuse_strangers(self, execution: ExecutionView, steps: Sequence[str]) -> None:
        known = [step.name for step in execution.steps]
        for step in steps:
            if step not in known:
                raise NotFound("step", step, known=known)


def _approved(by: str | None) -> Ended:
    return Ended(Status.SUCCESS, Reason.MARKED, output=msgspec.json.encode({"approved_by": by}))


def _rejected(by: str | None) -> Ended:
    return Ended(Status.FAILED, Reason.REJECTED, f"rejected by {by}" if by else "rejected")


def _view(execution: Execution, run: Run, steps: Sequence[StepRecord], told: Told) -> ExecutionView:
    return ExecutionView(
        id=execution.run_id,
        workflow_id=execution.workflow_id,
        version=execution.version,
        status=run.status,
        params=dict(execution.params),
        scheduled_for=None if execution.planned is None else to_datetime(execution.planned),
        started_at=to_datetime(execution.opened_at),
        finished_at=None if run.finished_at is None else to_datetime(run.finished_at),
        user_id=told.user_id,
        idempotency_key=key_of(run, told),
        error=_trouble(execution, run) or run.error,
        steps=[_view_step(step) for step in steps],
    )


def _trouble(execution: Execution, run: Run) -> str | None:
    """Which row of it cannot be read. Of one that is over its own error says more than what it was given."""
    error = run.unreadable or (None if run.error else execution.error)
    return None if error is None else error.message


def _view_step(step: StepRecord) -> StepView:
    return StepView(
        name=step.name,
        result=step.state.result,
        status=step.status,
        run_id=step.state.run_id,
        reason=step.state.reason,
        blockers=list(step.state.blockers),
        cause=step.cause,
        error=step.error,
    )
