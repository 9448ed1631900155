"""How an execution ends of which something cannot be read."""

from typing import Any

import pytest

from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.outcome import Reason
from foliot.domain.run import Status
from foliot.domain.workflow.abandoning import abandon
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.execution import Execution, Note, StepRecord, Unsettled
from foliot.domain.workflow.progress import StepState

ROOT, RUN = RunId("root"), RunId("run")
NOW = Instant(1_000)


def unsettled(*notes: Note, cancel_at: Instant | None = NOW, unresolved: int = 9) -> Unsettled:
    execution = Execution(ROOT, "etl", 1, 4, unresolved, {}, {}, None, Instant(0), NOW, cancel_at)
    return Unsettled(execution, notes, NOW)


def a_step(name: str, status: Status | None = None, result: Result | None = None) -> StepRecord:
    return StepRecord(name, StepState(0, (), result, None if status is None else RUN), status)


def test_what_has_not_begun_is_skipped_and_that_is_the_end() -> None:
    saved = abandon(unsettled(), [a_step("a", Status.SUCCESS, Result.SUCCESS), a_step("b"), a_step("c")])

    assert {name: (state.result, state.reason) for name, state in saved.changed.items()} == {
        "b": (Result.SKIPPED, "cancelled"),
        "c": (Result.SKIPPED, "cancelled"),
    }
    assert saved.ended is not None
    assert (saved.ended.status, saved.ended.reason) == (Status.CANCELLED, Reason.CANCELLED)
    assert saved.execution.unresolved == saved.newly_resolved
    assert saved.execution.is_ending


@pytest.mark.parametrize("status", [Status.SCHEDULED, Status.QUEUED, Status.RUNNING, Status.CANCELLING])
def test_what_is_under_way_is_cancelled_and_waited_for(status: Status) -> None:
    saved = abandon(unsettled(), [a_step("a", status), a_step("b")])

    assert (saved.cancels, list(saved.changed), saved.ended) == ((RUN,), ["b"], None)
    assert saved.execution.unresolved - saved.newly_resolved == 1


@pytest.mark.parametrize(("status", "result"), [(Status.SUCCESS, Result.SUCCESS), (Status.CANCELLED, Result.FAILURE)])
def test_a_step_that_has_ended_came_to_what_its_run_says(status: Status, result: Result) -> None:
    saved = abandon(unsettled(), [a_step("a", status)])

    assert saved.changed["a"].result is result
    assert saved.ended is not None


def test_what_a_note_says_is_later_than_what_was_read_before() -> None:
    saved = abandon(unsettled(Note(RUN, "a", Status.FAILED), Note(ROOT)), [a_step("a", Status.RUNNING)])

    assert saved.changed["a"].result is Result.FAILURE
    assert (saved.notes, saved.cancels) == ((RUN, ROOT), ())


def test_one_whose_time_is_up_timed_out() -> None:
    saved = abandon(unsettled(cancel_at=None), [a_step("a")])

    assert saved.changed["a"].reason == "timeout"
    assert saved.ended is not None
    assert (saved.ended.status, saved.ended.reason) == (Status.TIMEOUT, Reason.TIMEOUT)


@pytest.mark.parametrize(
    ("fields", "is_to_end"),
    [
        ({}, False),
        ({"deadline": Instant(NOW + 1)}, False),
        ({"deadline": NOW}, True),
        ({"cancel_at": NOW}, True),
        ({"is_ending": True}, True),
    ],
)
def test_only_what_is_to_end_ends(fields: dict[str, Any], is_to_end: bool) -> None:
    execution = Execution(ROOT, "etl", 1, 0, 1, {}, {}, None, Instant(0))

    assert Unsettled(execution._replace(**fields), (), NOW).is_to_end is is_to_end
