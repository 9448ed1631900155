"""Why a run is where it is."""

from datetime import UTC, datetime
from typing import Any

import pytest

from foliot.domain.outcome import Reason
from foliot.domain.run import Status
from foliot.interfaces.cli.why import REASONS, Crowd, why
from foliot.service.views import JobView, RunView, WorkerView

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def run(status: Status, **fields: Any) -> RunView:
    empty = dict.fromkeys(RunView.__struct_fields__)
    given = {"id": "r", "job_id": "j", "due_at": NOON, "started_at": NOON, "attempt": 1, "queue": "default", **fields}
    return RunView(**{**empty, **given, "status": status})


def job(**options: Any) -> JobView:
    given: dict[str, Any] = {"id": "j", "options": options}
    return JobView(**{**dict.fromkeys(JobView.__struct_fields__), **given})


def worker(**fields: Any) -> WorkerView:
    given = {"id": "w", "name": "north", "queues": ("default",), "slots": 2, "running": 0, "is_alive": True, **fields}
    return WorkerView(**{**given, "registered_at": NOON, "seen_at": NOON})


@pytest.mark.parametrize(
    ("workers", "said"),
    [
        ([], 'no worker of queue "default" is alive'),
        ([worker(is_alive=False)], 'no worker of queue "default" is alive'),
        ([worker(queues=("mail",))], 'no worker of queue "default" is alive'),
        ([worker(running=2)], "all 2 slots of its workers are taken"),
        ([worker(running=2), worker()], "it waits for its turn, or for its limit (max_concurrent 1)"),
    ],
)
def test_what_waits(workers: list[WorkerView], said: str) -> None:
    assert why(run(Status.QUEUED), job(max_concurrent=1), workers).startswith(said)


@pytest.mark.parametrize(
    ("crowd", "limits", "said"),
    [
        (Crowd(is_ready=True), {"max_concurrent": 1}, "it waits for its turn"),
        (Crowd(is_ready=False), {"concurrency_key": "db"}, "it waits for a place (concurrency_key db)"),
        (Crowd(is_ready=False, begun=["a"]), {}, "it waits for a place until a ends"),
        (Crowd(is_ready=False, begun=["a", "b"]), {"max_concurrent": 2},
         "it waits for a place (max_concurrent 2) until one of a, b ends"),
    ],
)  # fmt: skip
def test_what_is_known_to_wait_for_a_place_or_not(crowd: Crowd, limits: dict[str, Any], said: str) -> None:
    assert why(run(Status.QUEUED), job(**limits), [worker()], crowd) == said


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (run(Status.SCHEDULED, attempt=0), "it is due at "),
        (run(Status.SCHEDULED), "attempt 1 did not succeed; it is tried again at "),
        (run(Status.RUNNING, worker_id="w"), "attempt 1 runs on north since "),
        (run(Status.RUNNING, worker_id="gone"), "attempt 1 runs on gone since "),
        (run(Status.CANCELLING), "its worker has been told to end it"),
        (run(Status.SUCCESS, duration=2.0), "attempt 1 did what it should, in 2.0s"),
        (run(Status.SUCCESS, reason="marked"), "somebody marked it as a success"),
        (
            run(Status.FAILED, reason="exit_code"),
            "the command ended with an exit code that is not 0, ",
        ),
        (run(Status.TIMEOUT, reason="timeout", attempt=3), "it took longer than its timeout, after 3 attempts"),
        (run(Status.CANCELLED, reason="cancelled", attempt=0), "somebody cancelled it"),
        (run(Status.FAILED, reason="something_new"), "something_new, after 1 attempt"),
    ],
)
def test_the_others(view: RunView, said: str) -> None:
    assert why(view, job(), [worker()]).startswith(said)


def test_every_reason_is_known_in_words() -> None:
    assert {str(reason) for reason in Reason} - REASONS.keys() == set()
