"""The phases of runs in each state."""

from typing import Any

from foliot.domain.ids import JobId, RunId, Token, WorkerId
from foliot.domain.instant import MINUTE, SECOND, Instant, to_datetime
from foliot.domain.run.run import AttemptRecord, Run, Status
from foliot.service.queries.timeline import Phase, timeline
from foliot.testing.clock import START

NAMES = {WorkerId("w1"): "north"}


def at(seconds: int) -> Instant:
    return Instant(START + seconds * SECOND)


def a_stored_run(status: Status, **fields: Any) -> Run:
    known: dict[str, Any] = {
        "id": RunId("R"),
        "project": "default",
        "job_id": JobId("job"),
        "status": status,
        "reason": None,
        "queue": "default",
        "priority": 0,
        "trigger": "api",
        "tick": None,
        "payload": None,
        "output": None,
        "due_at": START,
        "created_at": START,
        "started_at": None,
        "finished_at": None,
        "attempt": 0,
        "lost": 0,
        "exit_code": None,
        "error": None,
        "worker_id": None,
        "token": None,
    }
    return Run(**{**known, **fields})


def an_attempt(number: int, begin: int, end: int, status: str = "failed") -> AttemptRecord:
    return AttemptRecord(
        RunId("R"), number, Token(number), WorkerId("w1"), at(begin), at(end), status, None, 1, "exit code 1"
    )


def shown(phases: list[Phase]) -> list[tuple[str, int, int, int | None]]:
    """Return kind, attempt, and the seconds of begin and end."""
    start = to_datetime(START)
    return [
        (
            phase.kind,
            phase.attempt,
            int((phase.begin - start).total_seconds()),
            None if phase.end is None else int((phase.end - start).total_seconds()),
        )
        for phase in phases
    ]


def test_a_run_that_waits_for_its_time_is_scheduled() -> None:
    run = a_stored_run(Status.SCHEDULED, due_at=Instant(START + MINUTE))

    assert shown(timeline(run, [], {})) == [("scheduled", 1, 0, None)]


def test_a_delayed_run_is_scheduled_then_queued() -> None:
    run = a_stored_run(Status.QUEUED, due_at=at(60))

    assert shown(timeline(run, [], {})) == [("scheduled", 1, 0, 60), ("queued", 1, 60, None)]


def test_a_running_run_has_an_open_phase_with_its_worker() -> None:
    run = a_stored_run(Status.RUNNING, attempt=1, started_at=at(2), worker_id=WorkerId("w1"))

    phases = timeline(run, [], NAMES)

    assert shown(phases) == [("queued", 1, 0, 2), ("running", 1, 2, None)]
    assert phases[-1].worker == "north"


def test_a_retried_run_waits_again_between_its_attempts() -> None:
    run = a_stored_run(Status.SUCCESS, attempt=2, started_at=at(9), finished_at=at(12), due_at=at(8))

    phases = timeline(run, [an_attempt(1, 1, 3), an_attempt(2, 9, 12, "success")], NAMES)

    assert shown(phases) == [("queued", 1, 0, 1), ("running", 1, 1, 3), ("queued", 2, 3, 9), ("running", 2, 9, 12)]
    assert [phase.status for phase in phases] == [None, "failed", None, "success"]


def test_a_run_that_waits_for_its_retry_is_scheduled() -> None:
    run = a_stored_run(Status.SCHEDULED, attempt=1, due_at=at(60))

    assert shown(timeline(run, [an_attempt(1, 1, 3)], NAMES))[-1] == ("scheduled", 2, 3, None)


def test_a_run_that_was_cancelled_before_its_start_ends_in_its_queue() -> None:
    run = a_stored_run(Status.CANCELLED, finished_at=at(5), reason="by_request")

    [phase] = timeline(run, [], NAMES)

    assert (phase.kind, phase.status, phase.reason, phase.end) == (
        "queued",
        "cancelled",
        "by_request",
        to_datetime(at(5)),
    )
