"""Why a run is where it is, in a sentence."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from foliot.domain.outcome import Reason
from foliot.domain.run import Status
from foliot.interfaces.cli.table import moment, span
from foliot.interfaces.cli.text import counted
from foliot.service.views import JobView, RunView, WorkerView

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


class Crowd(NamedTuple):
    """Who is before a run that is queued."""

    is_ready: bool
    """Any free worker may take it; if not, it waits for a place first."""
    begun: Sequence[str] = ()
    """Runs of its job that have begun."""


def why(run: RunView, job: JobView | None, workers: Sequence[WorkerView], crowd: Crowd | None = None) -> str:
    if run.unreadable:
        return _why_unreadable(run)
    match run.status:
        case Status.SCHEDULED if run.attempt:
            return f"attempt {run.attempt} did not succeed; it is tried again at {moment(run.due_at)}"
        case Status.SCHEDULED:
            return f"it is due at {moment(run.due_at)}"
        case Status.QUEUED:
            return _why_queued(run, job, workers, crowd)
        case Status.RUNNING:
            names = {worker.id: worker.name for worker in workers}
            on = names.get(run.worker_id or "", run.worker_id)
            return f"attempt {run.attempt} runs on {on} since {moment(run.started_at)}"
        case Status.CANCELLING:
            return "its worker has been told to end it"
        case _:
            return _why_over(run, job)


def _why_unreadable(run: RunView) -> str:
    """What to do about it: the error says what is wrong."""
    instead = f"start another one with: foliot trigger {run.job_id}"
    if run.status.is_terminal:
        return f"something other than Foliot has written its row; restore that from a backup, or {instead}"
    ends = f"end it with: foliot cancel {run.id}, and {instead}"
    return f"something other than Foliot has written its row; restore that from a backup, or {ends}"


def _why_queued(run: RunView, job: JobView | None, workers: Sequence[WorkerView], crowd: Crowd | None) -> str:
    able = [worker for worker in workers if worker.is_alive and run.queue in worker.queues]
    if not able:
        return f'no worker of queue "{run.queue}" is alive; start one with: foliot serve, or foliot worker'
    if crowd is not None and not crowd.is_ready:
        return _why_kept_out(crowd.begun, _limit(job))
    if all(worker.running >= worker.slots for worker in able):
        return f"all {sum(worker.slots for worker in able)} slots of its workers are taken"
    limit = _limit(job) if crowd is None else ""
    return f"it waits for its turn{f', or for its limit ({limit})' if limit else ''}"


def _why_kept_out(begun: Sequence[str], limit: str) -> str:
    """A place becomes free when a run ends: nobody can say when."""
    named = f" ({limit})" if limit else ""
    until = f" until {begun[0]} ends" if len(begun) == 1 else f" until one of {', '.join(begun)} ends" if begun else ""
    return f"it waits for a place{named}{until}"


def _limit(job: JobView | None) -> str:
    """The limit that a job has by its definition: max_concurrent 1."""
    options = {} if job is None else job.options
    limits = [name for name in ("max_concurrent", "concurrency_key") if options.get(name) is not None]
    return f"{limits[0]} {options[limits[0]]}" if limits else ""


def _why_over(run: RunView, job: JobView | None) -> str:
    reason = REASONS.get(run.reason or "", run.reason)
    if run.status is Status.SUCCESS:
        return reason or f"attempt {run.attempt} did what it should, in {span(run.duration)}"
    tries = f", after {counted(run.attempt, 'attempt')}" if run.attempt else ""
    retries = 0 if job is None else job.options.get("retry", {}).get("retries", 0)
    spare = "; the job has no retries" if not retries and run.status is Status.FAILED and run.attempt == 1 else ""
    return f"{reason or run.status}{tries}{spare}"
