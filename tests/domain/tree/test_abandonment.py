"""The end of a tree that cannot be settled because a part of it cannot be read."""

from collections.abc import Sequence
from typing import Any

import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.domain.tree.abandonment import abandon
from foliot.domain.tree.settlement import Settlement
from foliot.domain.tree.tree import Note, Tree
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.execution import StepRecord
from foliot.domain.workflow.progress import StepState

ROOT, RUN = RunId("root"), RunId("run")
NOW = Instant(1_000)
TREE = Tree(ROOT, "graph", JobId("etl"), 1, 4, 9, Instant(0), ROOT)


def abandoned(*steps: StepRecord, notes: Sequence[Note] = (), cancel_at: Instant | None = NOW) -> Settlement:
    open_runs = [step.state.run_id for step in steps if step.status is not None and not step.status.is_terminal]
    children = [run_id for run_id in open_runs if run_id is not None]
    return abandon(TREE._replace(deadline=NOW, cancel_at=cancel_at), notes, children, steps)


def a_step(name: str, status: Status | None = None, result: Result | None = None) -> StepRecord:
    return StepRecord(name, StepState(0, (), result, None if status is None else RUN), status)


def test_steps_that_have_not_begun_are_skipped_and_the_tree_ends() -> None:
    saved = abandoned(a_step("a", Status.SUCCESS, Result.SUCCESS), a_step("b"), a_step("c"))

    assert {name: (state.result, state.reason) for name, state in saved.steps.items()} == {
        "b": (Result.SKIPPED, "cancelled"),
        "c": (Result.SKIPPED, "cancelled"),
    }
    assert saved.ended is not None
    assert (saved.ended.status, saved.ended.reason) == (Status.CANCELLED, Reason.CANCELLED)
    assert (saved.tree.open, saved.tree.is_ending) == (0, True)


@pytest.mark.parametrize("status", [Status.SCHEDULED, Status.QUEUED, Status.RUNNING, Status.CANCELLING])
def test_a_running_step_is_cancelled_and_the_tree_waits_for_its_end(status: Status) -> None:
    saved = abandoned(a_step("a", status), a_step("b"))

    assert (saved.cancels, list(saved.steps), saved.ended) == ((RUN,), ["b"], None)
    assert saved.tree.open == 1


@pytest.mark.parametrize(("status", "result"), [(Status.SUCCESS, Result.SUCCESS), (Status.CANCELLED, Result.FAILURE)])
def test_a_step_that_has_ended_resolves_to_the_status_of_its_run(status: Status, result: Result) -> None:
    saved = abandoned(a_step("a", status))

    assert saved.steps["a"].result is result
    assert saved.ended is not None


def test_a_note_is_newer_than_the_status_that_was_read() -> None:
    saved = abandoned(a_step("a", Status.RUNNING), notes=[Note(RUN, "a", Status.FAILED), Note(ROOT)])

    assert saved.steps["a"].result is Result.FAILURE
    assert (saved.notes, saved.cancels) == ((RUN, ROOT), ())


def test_a_tree_without_steps_cancels_its_children_and_waits_for_their_ends() -> None:
    tree = TREE._replace(kind="fanout", cancel_at=NOW)
    other = RunId("other")

    saved = abandon(tree, [Note(RUN, "0000000", Status.SUCCESS)], [RUN, other])
    over = abandon(saved.tree, [Note(other, "0000001", Status.CANCELLED)], [])

    assert (saved.cancels, saved.tree.open, saved.ended) == ((other,), 1, None)
    assert over.ended is not None
    assert (over.ended.status, over.tree.open, over.notes) == (Status.CANCELLED, 0, (other,))


def test_a_tree_past_its_deadline_ends_as_timed_out() -> None:
    saved = abandoned(a_step("a"), cancel_at=None)

    assert saved.steps["a"].reason == "timeout"
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
def test_only_a_cancel_or_a_passed_deadline_ends_a_tree(fields: dict[str, Any], is_to_end: bool) -> None:
    assert TREE._replace(**fields).is_to_end(NOW) is is_to_end
