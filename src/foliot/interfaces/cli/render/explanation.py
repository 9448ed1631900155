"""Explanations in words: why a run, an execution or a step is where it is."""

from collections.abc import Mapping, Sequence
from typing import Final

from foliot.domain.run.outcome import Reason
from foliot.domain.tree.tree import TREES_QUEUE
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.layout import edge_words
from foliot.interfaces.cli.table import moment, span
from foliot.interfaces.cli.text import counted
from foliot.interfaces.cli.words import last_line
from foliot.service import explanation as why

_MOST_NAMED: Final = 5
_MOST_DEPENDENCIES: Final = 10
REASONS: Final[Mapping[str, str]] = {
    Reason.EXCEPTION: "the function raised an exception",
    Reason.EXIT_CODE: "the command ended with an exit code that is not 0",
    Reason.SIGNAL: "the command was ended by a signal",
    Reason.TIMEOUT: "it took longer than its timeout",
    Reason.CANCELLED: "somebody cancelled it",
    Reason.LEASE_LOST: "its worker vanished",
    Reason.RESTART: "its worker was stopped, and the job asks for at most one try",
    Reason.LAUNCH_FAILED: "it could not be started",
    Reason.LIMIT_MEMORY: "it wanted more memory than its limit",
    Reason.LIMIT_CPU: "it used more processor time than its limit",
    Reason.LIMIT_FILE_SIZE: "it wrote a file larger than its limit",
    Reason.HANDLER_MISSING: "no function of that name is known to the worker",
    Reason.PAYLOAD: "the payload does not fit the function",
    Reason.OUTPUT: "what it gave back could not be stored",
    Reason.HTTP_STATUS: "the answer had a status that was not expected",
    Reason.CONNECTION: "the address could not be reached",
    Reason.SSRF_BLOCKED: "the address is one that jobs may not reach",
    Reason.DEP_MISSING: "a job that it depends on has no run in its window",
    Reason.DEP_FAILED: "a job that it depends on did not succeed",
    Reason.COOLDOWN: "it declined too short a while ago to look again",
    Reason.STEP_FAILED: "one of its steps failed",
    Reason.REJECTED: "somebody rejected it",
    Reason.MARKED: "somebody marked it as a success",
}
"""Reasons of a run in words. What is not here says it itself."""
STEP_REASONS: Final[Mapping[str, str]] = {
    "cancelled": "the execution was cancelled before it began",
    "timeout": "the time of the execution was up before it began",
    "paused": "somebody has paused this step",
    "removed": "its job is no longer there",
    "disabled": "its job is disabled",
    "overlap": "an earlier run of it was not over",
    "marked": "somebody marked it as a success",
}
"""Why a step has its result. What is not here says it itself."""


def words(given: why.Explanation) -> str:
    """One line; nothing where there is nothing to say besides the result."""
    match given:
        case why.Unreadable():
            return _unreadable(given)
        case why.Succeeded():
            done = f"attempt {given.attempt} did what it should, in {span(given.duration)}"
            return _reason(given.reason) or done
        case why.Ended():
            return _ended(given)
        case why.Running():
            return f"attempt {given.attempt} runs on {given.worker} since {moment(given.started_at)}"
        case why.CancelRequested():
            return "its worker has been told to end it"
        case why.StepsEnding() | why.ExecutionUnreadable() | why.InProgress() | why.ExecutionEnded():
            return _execution_words(given)
        case why.StepReason() | why.Blocked() | why.ExecutionTimedOut() | why.StepRunEnded() | why.WaitsForSteps():
            return _step_words(given)
    return _waiting_words(given)


def _unreadable(given: why.Unreadable) -> str:
    """What to do about it: the error says what is wrong."""
    instead = f"start another one with: foliot trigger {given.job_id}"
    if given.is_over:
        return f"something other than Foliot has written its row; restore that from a backup, or {instead}"
    ends = f"end it with: foliot cancel {given.run_id}, and {instead}"
    return f"something other than Foliot has written its row; restore that from a backup, or {ends}"


def _waiting_words(
    given: why.Due
    | why.RetryDue
    | why.WaitsForGate
    | why.NoWorker
    | why.WaitsForLimit
    | why.NoFreeSlot
    | why.WaitsForTurn
    | why.WaitsForAnswer,
) -> str:
    match given:
        case why.Due():
            return f"it is due at {moment(given.due_at)}"
        case why.RetryDue():
            return f"attempt {given.attempt} did not succeed; it is tried again at {moment(given.due_at)}"
        case why.WaitsForGate():
            until = f", until {moment(given.until)} at most" if given.until else ""
            names = ", ".join(given.depends_on[:_MOST_DEPENDENCIES])
            return f"it is due at {moment(given.due_at)} and waits for its gate{until}: {names}"
        case why.NoWorker(queue=queue) if queue == TREES_QUEUE:
            return "no coordinator is alive, which starts workflows; start one with: foliot serve"
        case why.NoWorker():
            return f'no worker of queue "{given.queue}" is alive; start one with: foliot serve, or foliot worker'
        case why.WaitsForLimit():
            return _waits_for_limit(given)
        case why.NoFreeSlot():
            return f"all {given.slots} slots of its workers are taken"
        case why.WaitsForTurn():
            return "it waits for its turn"
        case why.WaitsForAnswer():
            return f"waits for an answer: foliot workflows approve {given.execution_id} {given.step}, or reject"


def _waits_for_limit(given: why.WaitsForLimit) -> str:
    """A place becomes free when a run ends: nobody can say when."""
    named = f" ({given.option} {given.value})" if given.option else ""
    holders = given.holders
    until = f" until {'one of ' if len(holders) > 1 else ''}{', '.join(holders)} ends" if holders else ""
    return f"it waits for a place{named}{until}"


def _ended(given: why.Ended) -> str:
    tries = f", after {counted(given.attempts, 'attempt')}" if given.attempts else ""
    spare = "; the job has no retries" if given.has_no_retries else ""
    return f"{_reason(given.reason) or given.status}{tries}{spare}"


def _reason(reason: str | None) -> str | None:
    return REASONS.get(reason or "", reason)


def _execution_words(
    given: why.StepsEnding | why.ExecutionUnreadable | why.InProgress | why.ExecutionEnded,
) -> str:
    match given:
        case why.StepsEnding():
            return "its steps are being ended"
        case why.ExecutionUnreadable():
            return f"it waits until somebody mends or cancels it: {given.error}"
        case why.InProgress():
            now = f"; under way: {_some(given.under_way)}" if given.under_way else ""
            return f"{given.resolved} of {counted(given.total, 'step')} came to a result{now}"
        case why.ExecutionEnded():
            came_to = ", ".join(f"{count} {result}" for result, count in given.results.items())
            blamed = f"; failed: {_some(given.failed)}" if given.failed else ""
            return f"its {counted(given.total, 'step')} came to {came_to}{blamed}"


def _step_words(
    given: why.StepReason | why.Blocked | why.ExecutionTimedOut | why.StepRunEnded | why.WaitsForSteps,
) -> str:
    match given:
        case why.StepReason():
            return STEP_REASONS.get(given.reason, given.reason)
        case why.Blocked():
            return "; ".join(map(_blocked, given.steps[:_MOST_NAMED])) + _more(len(given.steps))
        case why.ExecutionTimedOut():
            return "the time of the execution was up"
        case why.StepRunEnded():
            return last_line(given.error) if given.error else REASONS.get(given.cause or "", "")
        case why.WaitsForSteps():
            return f"waits for {_some(given.steps)}"


def _blocked(parent: why.BlockingStep) -> str:
    run = f" (run {parent.run_id})" if parent.run_id else ""
    but = ": its output does not fit" if parent.is_output_wrong else ""
    return f"{parent.step} came to {parent.result}{run}, wanted {edge_words(parent.edge) or Result.SUCCESS}{but}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + _more(len(names))


def _more(count: int) -> str:
    return f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
