"""Explanations as text."""

from datetime import UTC, datetime

import pytest

from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.domain.workflow.spec import Edge
from foliot.interfaces.cli.render.explanation import REASONS, explain
from foliot.service import explanation as why

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (why.Due(due_at=NOON), "due at "),
        (why.RetryDue(attempt=1, due_at=NOON), "attempt 1 did not succeed; next attempt at "),
        (why.NoWorker(queue="mail"), 'no worker of queue "mail" is alive; start one with: foliot worker --queue mail'),
        (
            why.NoFittingWorker(
                queue="default",
                needs=("gpu", "executor=worker"),
                workers=(
                    why.Unfit(worker="a", missing=("gpu", "executor=worker")),
                    why.Unfit(worker="b", pool="gpus", missing=(), is_paused=True),
                    why.Unfit(worker="c", missing=(), is_draining=True),
                ),
            ),
            "no living worker can execute the run (required: gpu, executor=worker): a lacks gpu, executor=worker; "
            "b of gpus is paused (foliot worker resume gpus); c is draining",
        ),
        (
            why.NoWorker(queue="default", needs=("executor=worker", "gpu")),
            'no worker of queue "default" is alive; start one with: foliot worker --server URL --label gpu',
        ),
        (why.NoWorker(queue="@trees"), "no coordinator is alive; start one with: foliot serve"),
        (why.NoFreeSlot(slots=2), "all 2 slots of its workers are in use"),
        (why.WaitsForTurn(), "waiting for its turn"),
        (why.Running(attempt=1, worker="north", started_at=NOON), "attempt 1 has been running on north since "),
        (why.CancelRequested(), "cancellation requested"),
        (why.Succeeded(attempt=1, reason=None, duration=2.0), "attempt 1 succeeded in 2.0s"),
        (why.Succeeded(attempt=1, reason="marked", duration=None), "it was marked as a success"),
        (
            why.Ended(status=Status.FAILED, reason="exit_code", attempts=1, has_no_retries=True),
            "the command exited with a code other than 0, after 1 attempt; the job has no retries",
        ),
        (
            why.Ended(status=Status.TIMEOUT, reason="timeout", attempts=3, has_no_retries=False),
            "it exceeded its timeout, after 3 attempts",
        ),
        (
            why.Ended(status=Status.CANCELLED, reason="cancelled", attempts=0, has_no_retries=False),
            "it was cancelled",
        ),
        (
            why.Ended(status=Status.FAILED, reason="something_new", attempts=1, has_no_retries=False),
            "something_new, after 1 attempt",
        ),
    ],
)
def test_explanations_of_runs_have_a_text(given: why.RunExplanation, message: str) -> None:
    assert explain(given).startswith(message)


@pytest.mark.parametrize(
    ("option", "value", "holders", "message"),
    [
        ("concurrency_key", "db", (), "waiting: concurrency_key=db"),
        (None, None, ("a",), "waiting for the end of a"),
        ("max_concurrent", 2, ("a", "b"), "waiting: max_concurrent=2, held by a, b"),
    ],
)
def test_a_limit_is_named_with_the_runs_that_hold_it(
    option: str | None, value: int | str | None, holders: tuple[str, ...], message: str
) -> None:
    assert explain(why.WaitsForLimit(option=option, value=value, holders=holders)) == message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (why.StepRunEnded(cause=None, error="not met: dep"), "not met: dep"),
        (why.StepRunEnded(cause="cancelled", error=None), "it was cancelled"),
        (why.ExecutionTimedOut(), "the execution timed out"),
        (why.StepReason(reason="paused"), "the step is paused"),
        (why.WaitsForSteps(steps=tuple("abcdefg")), "waiting for a, b, c, d, e and 2 more"),
    ],
)
def test_explanations_of_steps_have_a_text(given: why.StepExplanation, message: str) -> None:
    assert explain(given) == message


def test_at_most_five_blocking_steps_are_named() -> None:
    steps = [
        why.BlockingStep(step=name, result="failure", run_id=None, edge=Edge(parent=name), is_output_wrong=False)
        for name in "abcdefg"
    ]

    message = explain(why.Blocked(steps=tuple(steps)))

    assert message.count("failed, required: success") == 5
    assert message.endswith(" and 2 more")


def test_every_reason_has_a_text() -> None:
    assert {str(reason) for reason in Reason} - REASONS.keys() == set()
