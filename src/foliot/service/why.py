"""Explains the state of runs, executions and steps.

explain_run                         a run: RunExplanation; an execution: ExecutionExplanation;
                                    a fanout: FanoutExplanation; a chain: ChainExplanation
ExecutionExplainer.explain_steps    each step: StepExplanation, or None if its result needs none
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

from foliot.domain.chain.state import ChainStep
from foliot.domain.fanout.progress import ReducerState
from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.job.job import Job
from foliot.domain.run.lane import TREES_QUEUE, needs_in_words
from foliot.domain.run.lease import Order, WorkerState
from foliot.domain.run.limits import shared_limit
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Run, Status
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.domain.workflow.conditions import Result, is_met
from foliot.domain.workflow.execution import StepRecord, recovered_steps
from foliot.domain.workflow.graph import graph_of
from foliot.domain.workflow.plan import Plan, step_as_job
from foliot.domain.workflow.spec import Edge, Step
from foliot.errors import NotFound, RowUnreadable
from foliot.ports.chains import ChainDetails
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.fanouts import FanoutDetails
from foliot.ports.pages import AwaitedLimit, Blockers, ExecutionDetails, RunDetails
from foliot.service.explanation import (
    Blocked,
    BlockingStep,
    CancelRequested,
    ChainEnded,
    ChainExplanation,
    ChainInProgress,
    Due,
    Ended,
    ExecutionEnded,
    ExecutionExplanation,
    ExecutionTimedOut,
    ExecutionUnreadable,
    FanoutEnded,
    FanoutEnding,
    FanoutExplanation,
    FanoutRunning,
    InProgress,
    NoFittingWorker,
    NoFreeSlot,
    NoWorker,
    OpenStep,
    RetryDue,
    RunExplanation,
    Running,
    StepExplanation,
    StepReason,
    StepRunEnded,
    StepsEnding,
    Succeeded,
    Unfit,
    Unreadable,
    WaitsForAnswer,
    WaitsForGate,
    WaitsForLimit,
    WaitsForSteps,
    WaitsForTurn,
)

_OF_CHAINS: Final = frozenset({Status.RUNNING, Status.SUCCESS, Status.FAILED, Status.CANCELLED, Status.SKIPPED})
"""The statuses of the run of a chain that its steps explain."""


def explain_run(
    details: RunDetails, chain: ChainDetails | None = None
) -> RunExplanation | ExecutionExplanation | FanoutExplanation | ChainExplanation:
    """Explain a run. `chain`: the chain that it is, or is a step of."""
    run, blockers = details.run, details.blockers
    if chain is not None and kind_of(run) is RunKind.CHAIN and run.status in _OF_CHAINS:
        return _explain_chain(run, chain)
    if details.fanout is not None and run.unreadable is None:
        return _explain_fanout(run, details.fanout)
    if details.execution is None:
        return explain_single_run(run, blockers.jobs.get(run.job_id), blockers)
    explainer = ExecutionExplainer(details.execution, blockers)
    if run.unreadable is None and explainer.execution_id == run.id:
        return explainer.explain()
    if run.unreadable is None and run.child_key in explainer.waiting_approvals and run.status is Status.SCHEDULED:
        return WaitsForAnswer(execution_id=explainer.execution_id, step=run.child_key or "")
    is_waiting = run.status in (Status.SCHEDULED, Status.QUEUED)
    job = explainer.definition(run) if is_waiting else blockers.jobs.get(run.job_id)
    return explain_single_run(run, job, blockers)


def _explain_chain(run: Run, found: ChainDetails) -> ChainExplanation:
    chain = found.chain
    if run.status.is_terminal:
        return ChainEnded(
            chain_id=chain.id or None,
            outcome=chain.outcome,
            cause=None if chain.closing is None else chain.closing.cause,
            reason=run.reason,
        )
    return ChainInProgress(
        chain_id=chain.id or None,
        chain_state=chain.state,
        steps=tuple(_open_step(step, found.steps.get(step.run_id)) for step in chain.open_steps),
        expires_at=_moment(chain.expires_at),
    )


def _open_step(step: ChainStep, run: Run | None) -> OpenStep:
    begun = None if run is None else run.started_at
    return OpenStep(
        step=step.key,
        status=None if run is None else run.status,
        begins_at=to_datetime(step.due_at if begun is None else begun),
        cause=step.cause,
    )


def _explain_fanout(run: Run, fanout: FanoutDetails) -> FanoutExplanation:
    record = fanout.record
    counts, total = record.progress.counts, record.body.items
    if run.status.is_terminal:
        ended = {name: getattr(counts, name) for name in counts.__struct_fields__ if getattr(counts, name)}
        return FanoutEnded(total=total, counts=ended, reason=run.reason)
    if run.status is Status.CANCELLING or record.is_ending:
        return FanoutEnding(running=fanout.running)
    return FanoutRunning(
        total=total,
        ended=counts.ended,
        running=fanout.running,
        concurrency=record.body.fields.concurrency,
        is_reducing=record.progress.reducer is ReducerState.RUNNING,
    )


def explain_single_run(run: Run, job: Job | None, blockers: Blockers) -> RunExplanation:
    """Explain a run independently of its execution. `job` is its definition, if that can be read."""
    if run.unreadable is not None:
        return Unreadable(run_id=run.id, job_id=run.job_id, is_over=run.status.is_terminal)
    match run.status:
        case Status.SCHEDULED if run.attempt:
            return RetryDue(attempt=run.attempt, due_at=to_datetime(run.due_at))
        case Status.SCHEDULED:
            return _explain_scheduled(run, job)
        case Status.QUEUED:
            return _explain_queued(run, job, blockers)
        case Status.RUNNING:
            names = {state.worker.id: state.worker.name for state in blockers.workers}
            worker = None if run.worker_id is None else names.get(run.worker_id, run.worker_id)
            return Running(attempt=run.attempt, worker=worker, started_at=_moment(run.started_at))
        case Status.CANCELLING:
            return CancelRequested()
        case Status.SUCCESS:
            return Succeeded(attempt=run.attempt, reason=run.reason, duration=_duration(run))
        case _:
            is_failure = run.status is Status.FAILED and run.reason not in (Reason.LEASE_LOST, Reason.RESTART)
            has_no_retries = is_failure and run.attempt == 1 and not _retries(job)
            return Ended(status=run.status, reason=run.reason, attempts=run.attempt, has_no_retries=has_no_retries)


def _explain_scheduled(run: Run, job: Job | None) -> Due | WaitsForGate:
    """Explain a run before its first attempt. Its gate decides only once; a run that passes it is queued."""
    gate = None if job is None else job.spec.gate
    if gate is None:
        return Due(due_at=to_datetime(run.due_at))
    # A step is planned for the time at which its predecessors allowed it to start.
    planned = run.due_at if run.parent_id is not None or run.scheduled_for is None else run.scheduled_for
    until = to_datetime(Instant(planned + gate.wait)) if gate.wait else None
    return WaitsForGate(due_at=to_datetime(run.due_at), until=until, depends_on=tuple(gate.depends_on))


def _explain_queued(
    run: Run, job: Job | None, blockers: Blockers
) -> NoWorker | NoFittingWorker | WaitsForLimit | NoFreeSlot | WaitsForTurn:
    living = [state for state in blockers.workers if state.is_alive and run.queue in state.worker.queues]
    if not living:
        return NoWorker(queue=run.queue, needs=tuple(needs_in_words(run.needs)))
    workers = [state for state in living if state.takes_runs and not missing_in_worker(state, run, job)]
    if not workers:
        return NoFittingWorker(
            queue=run.queue,
            needs=tuple(needs_in_words(run.needs)),
            workers=tuple(_unfit(state, run, job) for state in living),
        )
    if run.id in blockers.limits:
        limits = blockers.limits[run.id]
        option, value = _shared_limit(run, limits) or _limit(job)
        holders = {holder: None for limit in limits for holder in limit.holders}
        return WaitsForLimit(option=option, value=value, holders=tuple(holders))
    if all(state.running >= state.worker.slots for state in workers):
        return NoFreeSlot(slots=sum(state.worker.slots for state in workers))
    return WaitsForTurn()


def missing_in_worker(state: WorkerState, run: Run, job: Job | None) -> list[str]:
    """Return what a worker lacks for a run, in words."""
    missing = needs_in_words(state.missing(run.queue, run.needs))
    kinds = state.worker.facts.kinds
    if kinds and job is not None and job.spec.runner not in kinds and run.queue != TREES_QUEUE:
        missing.append(f"kind={job.spec.runner}")
    return missing


def _unfit(state: WorkerState, run: Run, job: Job | None) -> Unfit:
    return Unfit(
        worker=state.worker.name,
        pool=state.worker.facts.pool,
        missing=tuple(missing_in_worker(state, run, job)),
        is_paused=state.order is Order.PAUSE,
        is_draining=state.is_draining or state.order is Order.DRAIN,
    )


def _shared_limit(run: Run, limits: Sequence[AwaitedLimit]) -> tuple[str, int | None] | None:
    """Return the concurrency of the fanout that a run waits in."""
    key = None if run.parent_id is None else shared_limit(run.parent_id, 1).key
    return next((("concurrency", limit.capacity) for limit in limits if limit.key == key), None)


def _limit(job: Job | None) -> tuple[str | None, int | str | None]:
    """Return the option of a job that limits its concurrency, with its value."""
    if job is not None and job.spec.options.max_concurrent is not None:
        return "max_concurrent", job.spec.options.max_concurrent
    if job is not None and job.spec.options.concurrency_key is not None:
        return "concurrency_key", job.spec.options.concurrency_key
    return None, None


def _retries(job: Job | None) -> int:
    return 0 if job is None else job.spec.options.retry.retries


class ExecutionExplainer:
    """Explains an execution and its steps by the version of the workflow that it executes."""

    def __init__(self, details: ExecutionDetails, blockers: Blockers) -> None:
        self._details = details
        self._blockers = blockers
        self._steps = {step.name: step for step in details.steps}
        version = details.version
        specs = version.spec.steps if isinstance(version, WorkflowVersion) else None
        # If the version cannot be read, the edges between its steps are not known.
        self._step_specs: Sequence[Step] = specs or [Step(name=step.name) for step in details.steps]
        self._plan = Plan.of(version.spec) if isinstance(version, WorkflowVersion) else None

    @property
    def execution_id(self) -> str:
        return self._details.execution.run_id

    @cached_property
    def waiting_approvals(self) -> frozenset[str]:
        """The steps that wait for a person now."""
        approvals = [step.name for step in self._step_specs if step.approval is not None]
        return frozenset(name for name in approvals if name in self._steps and _is_in_progress(self._steps[name]))

    @cached_property
    def waits(self) -> dict[str, RunExplanation]:
        """Explanations of the steps whose runs have not begun, without those that wait for a person."""
        found: dict[str, RunExplanation] = {}
        for step in self._details.steps:
            run = None if step.state.run_id is None else self._details.waiting.get(step.state.run_id)
            if run is not None and _is_in_progress(step) and step.name not in self.waiting_approvals:
                found[step.name] = explain_single_run(run, self.definition(run), self._blockers)
        return found

    def definition(self, run: Run) -> Job | None:
        """Return the definition of a step: from the version that the execution began with, else its current job."""
        job = self._blockers.jobs.get(run.job_id)
        execution = self._details.execution
        if self._plan is None or execution.error is not None:
            return job
        return step_as_job(self._plan, execution.jobs, run.child_key or "", run.job_id, execution.opened_at) or job

    # -- the execution

    def explain(self) -> ExecutionExplanation:
        status = self._details.run.status
        steps = self._details.steps
        if status is Status.CANCELLING:
            return StepsEnding()
        if not status.is_terminal and (error := self._error()):
            return ExecutionUnreadable(error=error)
        if not status.is_terminal:
            resolved = sum(step.state.result is not None for step in steps)
            under_way = tuple(step.name for step in steps if _is_in_progress(step))
            return InProgress(resolved=resolved, total=len(steps), under_way=under_way)
        counts = Counter(step.state.result for step in steps)
        results = {str(result): counts[result] for result in Result if counts[result]}
        recovered = {name: tuple(by) for name, by in recovered_steps(self._step_specs, steps).items()}
        failed = [step.name for step in steps if step.state.result is Result.FAILURE and step.name not in recovered]
        return ExecutionEnded(total=len(steps), results=results, failed=tuple(failed), recovered=recovered)

    def _error(self) -> str:
        """Return the error of the row that stops the execution, or an empty string."""
        details = self._details
        match details.version:
            case RowUnreadable(message=message):
                return message
            case None:
                name = f"{details.execution.workflow_id} version {details.execution.version}"
                return NotFound("workflow", name).message
        error = details.run.unreadable or details.execution.error
        return "" if error is None else error.message

    # -- its steps

    def explain_steps(self) -> dict[str, StepExplanation | None]:
        """Return an explanation by step, or None if the result of the step needs none."""
        graph = graph_of(self._step_specs)
        return {step.name: self._explain_step(step, graph.parents[step.name]) for step in self._details.steps}

    def _explain_step(self, step: StepRecord, edges: Sequence[Edge]) -> StepExplanation | None:
        state = step.state
        if state.reason:
            return StepReason(reason=state.reason)
        if state.blockers:
            by_parent = {edge.parent: edge for edge in edges}
            blocking = [self._blocking(by_parent[name]) for name in state.blockers if name in by_parent]
            return Blocked(steps=tuple(blocking))
        if state.result in (Result.FAILURE, Result.SKIPPED):
            return self._explain_end(step)
        if step.name in self.waiting_approvals:
            return WaitsForAnswer(execution_id=self.execution_id, step=step.name)
        if state.result is None and state.run_id is None:
            unresolved = [edge.parent for edge in edges if self._steps[edge.parent].state.result is None]
            return WaitsForSteps(steps=tuple(unresolved)) if unresolved else None
        return self.waits.get(step.name)

    def _explain_end(self, step: StepRecord) -> ExecutionTimedOut | StepRunEnded:
        if step.status is Status.CANCELLED and self._details.run.status is Status.TIMEOUT:
            return ExecutionTimedOut()
        return StepRunEnded(cause=step.cause, error=step.error)

    def _blocking(self, edge: Edge) -> BlockingStep:
        parent = self._steps[edge.parent].state
        is_accepted = parent.result is not None and is_met(edge.when, parent.result)
        return BlockingStep(
            step=edge.parent, result=parent.result, run_id=parent.run_id, edge=edge, is_output_wrong=is_accepted
        )


def _is_in_progress(step: StepRecord) -> bool:
    """Return whether the step has a run that has not ended. The run may end before the execution is settled."""
    return step.state.result is None and step.status is not None and not step.status.is_terminal


def _moment(instant: Instant | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)


def _duration(run: Run) -> float | None:
    return None if run.started_at is None or run.finished_at is None else (run.finished_at - run.started_at) / SECOND
