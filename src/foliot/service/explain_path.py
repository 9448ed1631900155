"""Builds the path of a tick and its run from what was stored when it was decided."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec

from foliot.domain.chain.state import ChainStep
from foliot.domain.gate.spec import Action
from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.job.job import Job
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.run import BEGUN, Run, Status
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.domain.workflow.execution import recovered_steps
from foliot.domain.workflow.graph import graph_of
from foliot.domain.workflow.layout import edge_words
from foliot.domain.workflow.spec import Edge
from foliot.ports.chains import ChainDetails
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.pages import ExecutionDetails, RunDetails
from foliot.service import explanation as reasons
from foliot.service.path import (
    AttemptStage,
    ChainStage,
    ChainStepStage,
    Change,
    ChangeKind,
    DueStage,
    EdgeState,
    ExitStage,
    GateStage,
    ItemsStage,
    LimitStage,
    Stage,
    StageState,
    StepLine,
    StepsStage,
    StepStage,
    TriggerStage,
    WorkerStage,
)
from foliot.service.queries.documents import moment, seconds
from foliot.service.why import ExecutionExplainer, explain_run, missing_in_worker

_FINAL: Final = Change(kind=ChangeKind.NEVER)


def binding(stage: Stage) -> Stage:
    """Return the stage, marked as the one that decides the state now."""
    return msgspec.structs.replace(stage, state=StageState.BINDS)


def origin_of(details: RunDetails, chain: ChainDetails | None = None) -> Stage:
    """Return the first stage of a run without a tick: the step that it is, or what triggered it."""
    run, execution = details.run, details.execution
    step = None if chain is None else next((one for one in chain.chain.steps if one.run_id == run.id), None)
    if chain is not None and step is not None:
        return _chain_step_stage(run, step, chain)
    if execution is not None and execution.execution.run_id == run.parent_id:
        return _step_stage(run, execution)
    given = details.start_input
    trigger = f"fanout {run.parent_id}" if kind_of(run) in (RunKind.ITEM, RunKind.REDUCER) else run.trigger
    return TriggerStage(
        trigger=trigger, created_at=to_datetime(run.created_at), user_id=given.user_id, rerun_of=given.rerun_of
    )


def _chain_step_stage(run: Run, step: ChainStep, found: ChainDetails) -> ChainStepStage:
    return ChainStepStage(
        chain_id=found.chain.id,
        class_id=found.body.class_id,
        chain_run=run.parent_id or "",
        step=step.key,
        depth=step.depth,
        attempt=step.attempt,
        cause=step.cause,
        decision=step.decision,
    )


def _step_stage(run: Run, details: ExecutionDetails) -> StepStage:
    states = {step.name: step.state for step in details.steps}
    edges: Sequence[Edge] = ()
    if isinstance(details.version, WorkflowVersion):
        edges = graph_of(details.version.spec.steps).parents.get(run.child_key or "", ())
    return StepStage(
        execution_id=details.execution.run_id,
        workflow_id=details.execution.workflow_id,
        version=details.execution.version,
        step=run.child_key or "",
        after=tuple(
            EdgeState(
                step=edge.parent,
                result=states[edge.parent].result,
                run_id=states[edge.parent].run_id,
                required=edge_words(edge) or "success",
            )
            for edge in edges
            if edge.parent in states
        ),
    )


class RunPath:
    """The stages of a run after its origin, and which of them binds."""

    def __init__(self, details: RunDetails, chain: ChainDetails | None = None) -> None:
        self._details = details
        self._run = details.run
        self._why = explain_run(details, chain)
        self._is_execution = details.execution is not None and details.execution.execution.run_id == details.run.id
        self._job = self._definition()

    def _definition(self) -> Job | None:
        details = self._details
        if details.execution is not None and not self._is_execution and details.run.unreadable is None:
            return ExecutionExplainer(details.execution, details.blockers).definition(details.run)
        return details.blockers.jobs.get(details.run.job_id)

    def stages(self, origin: Sequence[Stage]) -> tuple[list[Stage], Change]:
        """Return all stages, exactly one of which binds, and what can change its state."""
        bound, change = self._binding()
        stages = [*origin, *self._own_stages()]
        last = max((n for n, stage in enumerate(stages) if isinstance(stage, bound)), default=len(stages) - 1)
        stages[last] = binding(stages[last])
        # What comes after the stage that binds was not reached.
        return stages[: last + 1], change

    def _own_stages(self) -> Iterator[Stage]:
        run = self._run
        if run.unreadable is None:
            yield DueStage(due_at=to_datetime(run.due_at if not run.attempt else self._first_due()))
            yield from self._gate()
            yield from self._limit()
            yield self._worker()
            yield from self._attempts()
            yield from self._steps()
            yield from self._items()
            if isinstance(self._why, reasons.ChainExplanation):
                yield ChainStage(why=self._why)
        yield self._exit()

    def _first_due(self) -> Instant:
        """Return when the run was first due: a retry moves its due time."""
        run = self._run
        is_retried = run.attempt > 1 or run.status is Status.SCHEDULED
        return max(run.created_at, run.scheduled_for or run.created_at) if is_retried else run.due_at

    def _gate(self) -> Iterator[GateStage]:
        gate = None if self._job is None else self._job.spec.gate
        match self._why:
            case reasons.WaitsForGate(until=until, depends_on=depends_on):
                yield GateStage(decision=None, depends_on=depends_on, until=until)
            case _ if self._details.decision is not None:
                yield GateStage(decision=self._details.decision, depends_on=() if gate is None else gate.depends_on)

    def _limit(self) -> Iterator[LimitStage]:
        options = None if self._job is None else self._job.spec.options
        match self._why:
            case reasons.WaitsForLimit(option=option, value=value, holders=holders):
                yield LimitStage(option=option, value=value, holders=holders)
            case _ if options is not None and options.max_concurrent is not None:
                yield LimitStage(option="max_concurrent", value=options.max_concurrent)
            case _ if options is not None and options.concurrency_key is not None:
                yield LimitStage(option="concurrency_key", value=options.concurrency_key)

    def _worker(self) -> WorkerStage:
        run = self._run
        serving = [
            state
            for state in self._details.blockers.workers
            if state.takes_runs and run.queue in state.worker.queues and not missing_in_worker(state, run, self._job)
        ]
        unfit = self._why.workers if isinstance(self._why, reasons.NoFittingWorker) else ()
        started = self._details.attempts[0].started_at if self._details.attempts else run.started_at
        return WorkerStage(
            queue=run.queue,
            workers=len(serving),
            slots=sum(state.worker.slots for state in serving),
            running=sum(state.running for state in serving),
            unfit=unfit,
            needs=self._why.needs if isinstance(self._why, reasons.NoWorker | reasons.NoFittingWorker) else (),
            waited=None if started is None else max(0.0, seconds(self._first_due(), started) or 0.0),
        )

    def _attempts(self) -> Iterator[AttemptStage]:
        if self._is_execution or self._run.queue == TREES_QUEUE:
            return
        run, records = self._run, self._details.attempts
        names = {state.worker.id: state.worker.name for state in self._details.blockers.workers}
        last_start = None if run.status.is_terminal else run.started_at if run.status in BEGUN else run.due_at
        starts = [*(record.started_at for record in records[1:]), last_start]
        for record, retry_at in zip(records, starts, strict=False):
            yield AttemptStage(
                number=record.number,
                worker=names.get(record.worker_id, record.worker_id),
                started_at=to_datetime(record.started_at),
                finished_at=to_datetime(record.finished_at),
                status=record.status,
                reason=record.reason,
                exit_code=record.exit_code,
                error=record.error,
                retry_at=moment(retry_at),
            )
        if run.status in BEGUN:
            worker = None if run.worker_id is None else names.get(run.worker_id, run.worker_id)
            yield AttemptStage(
                number=run.attempt,
                worker=worker,
                started_at=moment(run.started_at),
                finished_at=None,
                status=run.status,
                reason=None,
                exit_code=None,
                error=None,
            )

    def _steps(self) -> Iterator[StepsStage]:
        details = self._details.execution
        if details is None or not self._is_execution:
            return
        explainer = ExecutionExplainer(details, self._details.blockers)
        known = details.version.spec.steps if isinstance(details.version, WorkflowVersion) else ()
        recovered, explained = recovered_steps(known, details.steps), explainer.explain_steps()
        yield StepsStage(
            workflow_id=details.execution.workflow_id,
            version=details.execution.version,
            why=explainer.explain(),
            steps=tuple(
                StepLine(
                    step=step.name,
                    result=step.state.result,
                    status=step.status,
                    run_id=step.state.run_id,
                    recovered_by=tuple(recovered.get(step.name, ())),
                    why=explained[step.name],
                )
                for step in details.steps
            ),
            deadline=moment(details.execution.deadline),
        )

    def _items(self) -> Iterator[ItemsStage]:
        if self._details.fanout is not None and isinstance(self._why, reasons.FanoutExplanation):
            yield ItemsStage(why=self._why, deadline=moment(self._details.fanout.record.deadline))

    def _exit(self) -> ExitStage:
        run, job = self._run, self._job
        return ExitStage(
            status=run.status,
            reason=run.reason,
            finished_at=moment(run.finished_at),
            attempts=run.attempt,
            lost=run.lost,
            retries=None if job is None or run.queue == TREES_QUEUE else job.spec.options.retry.retries,
            error=run.error if run.unreadable is None else run.unreadable.message,
            unreadable=run.unreadable is not None,
        )

    # -- what binds

    def _binding(self) -> tuple[type[Stage], Change]:
        match self._why:
            case reasons.Due(due_at=due_at):
                return DueStage, Change(kind=ChangeKind.AT_TIME, at=due_at)
            case reasons.RetryDue(due_at=due_at):
                return AttemptStage, Change(kind=ChangeKind.AT_TIME, at=due_at)
            case reasons.WaitsForGate(due_at=due_at, until=until, depends_on=depends_on):
                return GateStage, Change(kind=ChangeKind.GATE_DECIDES, at=until or due_at, waits_for=depends_on)
            case reasons.WaitsForLimit(holders=holders):
                return LimitStage, Change(kind=ChangeKind.RUN_ENDS, waits_for=holders)
            case reasons.NoWorker() | reasons.NoFittingWorker():
                return WorkerStage, Change(kind=ChangeKind.WORKER_STARTS)
            case reasons.NoFreeSlot() | reasons.WaitsForTurn():
                return WorkerStage, Change(kind=ChangeKind.SLOT_FREES)
            case reasons.WaitsForAnswer(execution_id=execution_id, step=step):
                return StepStage, Change(kind=ChangeKind.ANSWERED, waits_for=(execution_id, step))
            case reasons.Running() | reasons.CancelRequested():
                return AttemptStage, Change(kind=ChangeKind.ATTEMPT_ENDS, at=self._timeout_at())
        return self._binding_of_tree_or_end()

    def _binding_of_tree_or_end(self) -> tuple[type[Stage], Change]:
        """Return what binds a tree, a run that cannot be read, or one that has ended."""
        decision = self._details.decision
        match self._why:
            case reasons.InProgress(under_way=under_way):
                deadline = self._details.execution.execution.deadline if self._details.execution is not None else None
                return StepsStage, Change(kind=ChangeKind.STEPS_END, at=moment(deadline), waits_for=under_way)
            case reasons.ChainInProgress(steps=steps, expires_at=expires_at):
                names = tuple(step.step for step in steps)
                return ChainStage, Change(kind=ChangeKind.CHAIN_GOES_ON, at=expires_at, waits_for=names)
            case reasons.FanoutRunning() | reasons.FanoutEnding() if self._details.fanout is not None:
                return ItemsStage, Change(kind=ChangeKind.ITEMS_END, at=moment(self._details.fanout.record.deadline))
            case reasons.StepsEnding():
                return StepsStage, Change(kind=ChangeKind.STEPS_END)
            case reasons.ExecutionUnreadable():
                return StepsStage, Change(kind=ChangeKind.REPAIRED)
            case reasons.Unreadable(is_over=False):
                return ExitStage, Change(kind=ChangeKind.REPAIRED)
            case _ if decision is not None and decision.action is not Action.RUN:
                return GateStage, _FINAL
        return ExitStage, _FINAL

    def _timeout_at(self) -> datetime | None:
        """Return when the running attempt exceeds the timeout of its job, if it has one."""
        timeout = None if self._job is None else self._job.spec.options.timeout
        started = self._run.started_at
        return None if timeout is None or started is None else to_datetime(Instant(started + timeout))


def late_by(fire_at: Instant, decided_at: Instant) -> float:
    """Return the seconds from the time at which a tick should have fired to its decision."""
    return max(0, decided_at - fire_at) / SECOND
