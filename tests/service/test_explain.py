"""Explanations of runs and steps."""

from typing import Any

import pytest

from foliot.domain.ids import JobId, RunId, WorkerId
from foliot.domain.instant import to_datetime
from foliot.domain.job.job import Job, Options
from foliot.domain.run.lease import Worker, WorkerState
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Run, Status
from foliot.domain.workflow.conditions import Condition, Result
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.domain.workflow.start import StartInput
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.pages import AwaitedLimit, Blockers, ExecutionDetails
from foliot.service import explanation as reasons
from foliot.service.why import ExecutionExplainer, explain_single_run
from foliot.testing.builders import REPORT, a_job
from foliot.testing.clock import START

ROOT = RunId("root")


def run(status: Status, **fields: Any) -> Run:
    empty: dict[str, Any] = dict.fromkeys(Run._fields)
    given: dict[str, Any] = {
        "id": RunId("r"),
        "job_id": REPORT,
        "due_at": START,
        "started_at": START,
        "attempt": 1,
        "queue": "default",
    }
    given["needs"] = ()
    return Run(**{**empty, **given, **fields, "status": status})


def job(**options: Any) -> Job:
    return a_job(options=Options(**options))


def worker(**fields: Any) -> WorkerState:
    known: dict[str, Any] = {"queues": ("default",), "running": 0, "is_alive": True, **fields}
    return WorkerState(
        Worker(WorkerId("w"), "north", known["queues"], 2), START, START, known["is_alive"], known["running"]
    )


def blockers(*workers: WorkerState, limits: dict[RunId, list[AwaitedLimit]] | None = None) -> Blockers:
    return Blockers(workers or (worker(),), {}, limits or {})


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        ([worker(is_alive=False)], reasons.NoWorker(queue="default")),
        (
            [worker()._replace(is_draining=True)],
            reasons.NoFittingWorker(
                queue="default", needs=(), workers=(reasons.Unfit(worker="north", missing=(), is_draining=True),)
            ),
        ),
        ([worker(queues=("mail",))], reasons.NoWorker(queue="default")),
        ([worker(running=2)], reasons.NoFreeSlot(slots=2)),
        ([worker(running=2), worker()], reasons.WaitsForTurn()),
    ],
)
def test_a_queued_run_waits_for_a_worker(workers: list[WorkerState], expected: reasons.RunExplanation) -> None:
    assert explain_single_run(run(Status.QUEUED), job(max_concurrent=1), blockers(*workers)) == expected


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({}, (None, None)),
        ({"max_concurrent": 2}, ("max_concurrent", 2)),
        ({"concurrency_key": "db"}, ("concurrency_key", "db")),
    ],
)
def test_a_queued_run_without_its_places_has_the_limit_and_its_holders(
    options: dict[str, Any], limit: tuple[str | None, int | str | None]
) -> None:
    awaited = [AwaitedLimit("a", 1, [RunId("x")]), AwaitedLimit("b", 1, [RunId("y"), RunId("x")])]

    found = explain_single_run(run(Status.QUEUED), job(**options), blockers(limits={RunId("r"): awaited}))

    option, value = limit
    assert found == reasons.WaitsForLimit(option=option, value=value, holders=("x", "y"))


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (run(Status.SCHEDULED, attempt=0), reasons.Due(due_at=to_datetime(START))),
        (run(Status.SCHEDULED), reasons.RetryDue(attempt=1, due_at=to_datetime(START))),
        (
            run(Status.RUNNING, worker_id="w"),
            reasons.Running(attempt=1, worker="north", started_at=to_datetime(START)),
        ),
        (
            run(Status.RUNNING, worker_id="gone"),
            reasons.Running(attempt=1, worker="gone", started_at=to_datetime(START)),
        ),
        (run(Status.CANCELLING), reasons.CancelRequested()),
        (run(Status.SUCCESS, finished_at=START + 2_000), reasons.Succeeded(attempt=1, reason=None, duration=2.0)),
        (
            run(Status.FAILED, reason="exit_code"),
            reasons.Ended(status=Status.FAILED, reason="exit_code", attempts=1, has_no_retries=True),
        ),
        (
            run(Status.FAILED, reason="exit_code", attempt=2),
            reasons.Ended(status=Status.FAILED, reason="exit_code", attempts=2, has_no_retries=False),
        ),
        (
            run(Status.FAILED, reason="lease_lost"),
            reasons.Ended(status=Status.FAILED, reason="lease_lost", attempts=1, has_no_retries=False),
        ),
    ],
)
def test_other_runs_are_explained_by_their_status(known: Run, expected: reasons.RunExplanation) -> None:
    assert explain_single_run(known, job(), blockers()) == expected


def test_a_failed_run_of_a_job_with_retries_is_not_explained_by_missing_retries() -> None:
    found = explain_single_run(run(Status.FAILED), job(retry=Retry(retries=3)), blockers())

    assert isinstance(found, reasons.Ended)
    assert not found.has_no_retries


def course(status: Status, *steps: StepRecord, spec: WorkflowSpec | None = None) -> ExecutionExplainer:
    unresolved = sum(step.state.result is None for step in steps)
    execution = Execution(ROOT, "etl", 1, 0, unresolved, {}, {}, None, START)
    version = None if spec is None else WorkflowVersion("etl", 1, spec, START)
    return ExecutionExplainer(
        ExecutionDetails(execution, run(status, id=ROOT), StartInput(), steps, version, {}), blockers()
    )


@pytest.mark.parametrize(
    ("ended", "whole", "expected"),
    [
        (
            StepRecord("a", StepState(0, result=Result.SKIPPED), Status.SKIPPED, None, "not met"),
            Status.SUCCESS,
            reasons.StepRunEnded(cause=None, error="not met"),
        ),
        (
            StepRecord("a", StepState(0, result=Result.FAILURE), Status.CANCELLED, "cancelled", None),
            Status.CANCELLED,
            reasons.StepRunEnded(cause="cancelled", error=None),
        ),
        (
            StepRecord("a", StepState(0, result=Result.FAILURE), Status.CANCELLED, None, "no"),
            Status.TIMEOUT,
            reasons.ExecutionTimedOut(),
        ),
        (StepRecord("a", StepState(0, result=Result.SUCCESS), Status.SUCCESS), Status.SUCCESS, None),
    ],
)
def test_an_ended_step_is_explained_by_its_run(
    ended: StepRecord, whole: Status, expected: reasons.StepExplanation | None
) -> None:
    assert course(whole, ended).explain_steps() == {"a": expected}


def test_a_blocked_step_is_explained_by_its_blocking_steps() -> None:
    edge = Edge(parent="a")
    spec = WorkflowSpec(steps=(Step(name="a", job=JobId("j")), Step(name="b", job=JobId("j"), after=(edge,))))
    first = StepRecord("a", StepState(0, result=Result.FAILURE, run_id=RunId("x")), Status.FAILED, "exit_code", "no")
    second = StepRecord("b", StepState(0, ("a",), Result.SKIPPED))

    found = course(Status.FAILED, first, second, spec=spec).explain_steps()["b"]

    blocking = reasons.BlockingStep(step="a", result="failure", run_id="x", edge=edge, is_output_wrong=False)
    assert found == reasons.Blocked(steps=(blocking,))


def test_an_execution_of_a_missing_version_is_explained_by_it() -> None:
    found = course(Status.RUNNING, StepRecord("a", StepState(0))).explain()

    assert found == reasons.ExecutionUnreadable(error="workflow 'etl version 1' does not exist")
    assert course(Status.CANCELLING).explain() == reasons.StepsEnding()


def test_an_ended_execution_names_what_failed_and_which_step_recovered_it() -> None:
    on_failure = frozenset({Condition.FAILURE})
    spec = WorkflowSpec(
        steps=(
            Step(name="load"),
            Step(name="send"),
            Step(name="restore", after=(Edge(parent="load", when=on_failure),), recovers=True),
        )
    )
    states = {"load": Result.FAILURE, "send": Result.FAILURE, "restore": Result.SUCCESS}
    records = [StepRecord(name, StepState(0, result=result)) for name, result in states.items()]

    assert course(Status.FAILED, *records, spec=spec).explain() == reasons.ExecutionEnded(
        total=3, results={"success": 1, "failure": 2}, failed=("send",), recovered={"load": ("restore",)}
    )
