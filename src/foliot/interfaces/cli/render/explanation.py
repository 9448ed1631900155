"""Explanations as text: why a run, an execution or a step has its status."""

from collections.abc import Mapping, Sequence
from typing import Final

from foliot.domain.job.job import DEFAULT_QUEUE
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import BEGUN
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.layout import edge_words
from foliot.interfaces.cli.render.format import last_line, moment, span
from foliot.interfaces.cli.render.text import counted
from foliot.service import explanation as why

_MOST_NAMED: Final = 5
_MOST_DEPENDENCIES: Final = 10
_MOST_WORKERS: Final = 10
_REMOTE: Final = "executor=worker"
_RESULTS: Final[Mapping[str | None, str]] = {
    Result.SUCCESS: "succeeded",
    Result.FAILURE: "failed",
    Result.SKIPPED: "was skipped",
    None: "has no result",
}
REASONS: Final[Mapping[str, str]] = {
    Reason.EXCEPTION: "the function raised an exception",
    Reason.EXIT_CODE: "the command exited with a code other than 0",
    Reason.SIGNAL: "the command was ended by a signal",
    Reason.TIMEOUT: "it exceeded its timeout",
    Reason.CANCELLED: "it was cancelled",
    Reason.LEASE_LOST: "its worker was lost",
    Reason.RESTART: "its worker was stopped, and delivery is at_most_once",
    Reason.LAUNCH_FAILED: "it could not be started",
    Reason.EXECUTOR_FAILED: "the executor of the application reported a failure",
    Reason.LIMIT_MEMORY: "it exceeded its memory limit",
    Reason.LIMIT_CPU: "it exceeded its limit of processor time",
    Reason.LIMIT_FILE_SIZE: "it wrote a file larger than its limit",
    Reason.HANDLER_MISSING: "the worker has no function of that name",
    Reason.PAYLOAD: "the payload does not match the function",
    Reason.OUTPUT: "its return value could not be stored",
    Reason.HTTP_STATUS: "the response had an unexpected status",
    Reason.CONNECTION: "the address could not be reached",
    Reason.SSRF_BLOCKED: "jobs are not allowed to reach this address",
    Reason.DEP_MISSING: "a job that it depends on has no finished run in the window",
    Reason.DEP_FAILED: "a job that it depends on did not succeed",
    Reason.COOLDOWN: "its gate declined a short time ago and is in its cooldown",
    Reason.STEP_FAILED: "one of its steps failed",
    Reason.INPUTS: "its items could not be read",
    Reason.ITEMS_FAILED: "more items failed than its partial_tolerance allows",
    Reason.REDUCER_FAILED: "its reducer did not succeed",
    Reason.REJECTED: "it was rejected",
    Reason.MARKED: "it was marked as a success",
    Reason.CHAIN_ESCALATED: "the chain escalated: a person must act",
    Reason.CHAIN_FAILED: "the chain failed",
    Reason.CHAIN_EXPIRED: "the chain expired",
    Reason.CHAIN_REFUSED: "the scout found something, but no chain was armed",
    Reason.BREAKER_OPEN: "the breaker of its class opened",
}
"""Reasons of a run as text. A reason that is not listed is printed as it is."""
STEP_REASONS: Final[Mapping[str, str]] = {
    "cancelled": "the execution was cancelled before the step started",
    "timeout": "the execution timed out before the step started",
    "paused": "the step is paused",
    "removed": "its job does not exist any more",
    "disabled": "its job is disabled",
    "job_paused": "its job is paused",
    "overlap": "an earlier run of it had not ended",
    "marked": "it was marked as a success",
}
"""Reasons of the result of a step as text. A reason that is not listed is printed as it is."""


def explain(given: why.Explanation) -> str:
    """Return the explanation as one line, or an empty text if the result needs none."""
    match given:
        case why.Unreadable():
            return _unreadable(given)
        case why.Succeeded():
            return _reason(given.reason) or f"attempt {given.attempt} succeeded in {span(given.duration)}"
        case why.Ended():
            return _ended(given)
        case why.Running():
            return f"attempt {given.attempt} has been running on {given.worker} since {moment(given.started_at)}"
        case why.CancelRequested():
            return "cancellation requested"
        case why.StepsEnding() | why.ExecutionUnreadable() | why.InProgress() | why.ExecutionEnded():
            return _execution(given)
        case why.FanoutRunning() | why.FanoutEnding() | why.FanoutEnded():
            return _fanout(given)
        case why.ChainInProgress() | why.ChainEnded():
            return _chain(given)
        case why.StepReason() | why.Blocked() | why.ExecutionTimedOut() | why.StepRunEnded() | why.WaitsForSteps():
            return _step(given)
    return _waiting(given)


def _unreadable(given: why.Unreadable) -> str:
    """Return what to do. What is wrong is in the error of the run."""
    start = f"start a new run with: foliot trigger {given.job_id}"
    act = start if given.is_over else f"cancel it with: foliot cancel {given.run_id}, and {start}"
    return f"its row was not written by Foliot; restore the row from a backup, or {act}"


def _waiting(
    given: why.Due
    | why.RetryDue
    | why.WaitsForGate
    | why.NoWorker
    | why.NoFittingWorker
    | why.WaitsForLimit
    | why.NoFreeSlot
    | why.WaitsForTurn
    | why.WaitsForAnswer,
) -> str:
    match given:
        case why.Due():
            return f"due at {moment(given.due_at)}"
        case why.RetryDue():
            return f"attempt {given.attempt} did not succeed; next attempt at {moment(given.due_at)}"
        case why.WaitsForGate():
            until = f", until {moment(given.until)} at most" if given.until else ""
            names = ", ".join(given.depends_on[:_MOST_DEPENDENCIES])
            return f"due at {moment(given.due_at)}, waiting for its gate{until}: {names}"
        case why.NoWorker():
            command = worker_command(given.queue, given.needs)
            return f"no {missing_worker(given.queue)} is alive; start one with: {command}"
        case why.NoFittingWorker():
            required = f" (required: {', '.join(given.needs)})" if given.needs else ""
            return f"no living worker can execute the run{required}: {unfit_workers(given.workers)}"
        case why.WaitsForLimit():
            return _waits_for_limit(given)
        case why.NoFreeSlot():
            return f"all {given.slots} slots of its workers are in use"
        case why.WaitsForTurn():
            return "waiting for its turn"
        case why.WaitsForAnswer():
            return f"waiting for approval: foliot workflows approve {given.execution_id} {given.step}, or reject"


def unfit_workers(workers: Sequence[why.Unfit]) -> str:
    """Return why each worker does not get a run."""
    words = [f"{worker_name(one.worker, one.pool)} {_unfit(one)}" for one in workers[:_MOST_WORKERS]]
    more = len(workers) - len(words)
    return "; ".join(words) + (f"; and {more} more" if more else "")


def _unfit(worker: why.Unfit) -> str:
    if worker.missing:
        return f"lacks {', '.join(worker.missing)}"
    if worker.is_paused:
        return f"is paused (foliot worker resume {worker.pool or worker.worker})"
    return "is draining"


def worker_name(worker: str, pool: str) -> str:
    """Return the name of a worker, and the pool by which it can be paused, drained and disabled."""
    return worker if pool in ("", worker) else f"{worker} of {pool}"


def missing_worker(queue: str) -> str:
    """Return which process must be alive to take runs from a queue."""
    return "coordinator" if queue == TREES_QUEUE else f'worker of queue "{queue}"'


def worker_command(queue: str, needs: Sequence[str] = ()) -> str:
    """Return the command that starts a process for runs of a queue, which need a worker with these labels, or a remote
    one."""
    if queue == TREES_QUEUE:
        return "foliot serve"
    if not needs and queue == DEFAULT_QUEUE:
        return "foliot serve, or foliot worker"
    server = ["--server URL"] if _REMOTE in needs else []
    labels = [f"--label {one}" for one in needs if "=" not in one]
    queues = [] if queue == DEFAULT_QUEUE else [f"--queue {queue}"]
    return " ".join(["foliot worker", *server, *labels, *queues])


def _waits_for_limit(given: why.WaitsForLimit) -> str:
    holders = ", ".join(given.holders)
    if not given.option:
        return f"waiting for the end of {holders or 'an earlier run'}"
    return f"waiting: {given.option}={given.value}" + (f", held by {holders}" if holders else "")


def _ended(given: why.Ended) -> str:
    tries = f", after {counted(given.attempts, 'attempt')}" if given.attempts else ""
    spare = "; the job has no retries" if given.has_no_retries else ""
    return f"{_reason(given.reason) or given.status}{tries}{spare}"


def _reason(reason: str | None) -> str | None:
    return REASONS.get(reason or "", reason)


def _execution(
    given: why.StepsEnding | why.ExecutionUnreadable | why.InProgress | why.ExecutionEnded,
) -> str:
    match given:
        case why.StepsEnding():
            return "cancellation requested, its steps are ending"
        case why.ExecutionUnreadable():
            return f"blocked until it is repaired or cancelled: {given.error}"
        case why.InProgress():
            current = f"; in progress: {_some(given.under_way)}" if given.under_way else ""
            return f"{given.resolved} of {counted(given.total, 'step')} finished{current}"
        case why.ExecutionEnded():
            results = ", ".join(f"{count} {result}" for result, count in given.results.items())
            failed = f"; failed: {_some(given.failed)}" if given.failed else ""
            recovered = [f"{name} by {_some(by)}" for name, by in given.recovered.items()]
            repaired = f"; recovered: {_some(recovered)}" if recovered else ""
            return f"{counted(given.total, 'step')}: {results}{failed}{repaired}"


def _fanout(given: why.FanoutRunning | why.FanoutEnding | why.FanoutEnded) -> str:
    match given:
        case why.FanoutRunning(is_reducing=True):
            return f"{counted(given.total, 'item')} ended, its reducer has not"
        case why.FanoutRunning():
            running = f"{given.running} running (concurrency {given.concurrency})"
            return f"{given.ended} of {counted(given.total, 'item')} ended, {running}"
        case why.FanoutEnding():
            return f"no more items are started, {given.running} still running"
        case why.FanoutEnded():
            counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in given.counts.items())
            reason = f"{_reason(given.reason)}; " if given.reason else ""
            return f"{reason}{counted(given.total, 'item')}{f': {counts}' if counts else ''}"


def _chain(given: why.ChainInProgress | why.ChainEnded) -> str:
    match given:
        case why.ChainInProgress():
            state = f"{given.chain_id} is {given.chain_state.replace('_', ' ')}" if given.chain_id else "not armed yet"
            return "; ".join((state, *map(_open_step, given.steps)))
        case why.ChainEnded(chain_id=None, reason=None):
            return "the scout found nothing to do"
        case why.ChainEnded(chain_id=None):
            return _reason(given.reason) or "no chain was armed"
        case why.ChainEnded():
            outcome = (given.outcome or "closed").replace("_", " ")
            return f"{given.chain_id} is closed ({outcome})" + (f": {given.cause}" if given.cause else "")


def _open_step(step: why.OpenStep) -> str:
    if step.status in BEGUN:
        return f"{step.step} has been running since {moment(step.begins_at)}"
    return f"{step.step} begins at {moment(step.begins_at)}, because {step.cause}"


def _step(
    given: why.StepReason | why.Blocked | why.ExecutionTimedOut | why.StepRunEnded | why.WaitsForSteps,
) -> str:
    match given:
        case why.StepReason():
            return STEP_REASONS.get(given.reason, given.reason)
        case why.Blocked():
            return "; ".join(map(_blocked, given.steps[:_MOST_NAMED])) + _more(len(given.steps))
        case why.ExecutionTimedOut():
            return "the execution timed out"
        case why.StepRunEnded():
            return last_line(given.error) if given.error else REASONS.get(given.cause or "", "")
        case why.WaitsForSteps():
            return f"waiting for {_some(given.steps)}"


def _blocked(parent: why.BlockingStep) -> str:
    run = f" (run {parent.run_id})" if parent.run_id else ""
    output = " (its output does not match)" if parent.is_output_wrong else ""
    required = edge_words(parent.edge) or Result.SUCCESS
    return f"{parent.step} {_RESULTS.get(parent.result, parent.result)}{run}, required: {required}{output}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + _more(len(names))


def _more(count: int) -> str:
    return f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
