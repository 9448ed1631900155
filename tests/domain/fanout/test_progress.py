"""The counters of a fanout: arithmetic of tolerance, the truth table of the reducer, open children as ranges."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.fanout.progress import Counts, Progress, is_reducer_due, status_of
from foliot.domain.fanout.spec import FanoutFields, RunOn
from foliot.domain.instant import Millis
from foliot.domain.run.run import Status

MS = Millis(1)


@pytest.mark.proves("R0-30", "R0-37", "R0-38", "F4")
@pytest.mark.parametrize(
    ("items", "failed", "tolerance", "status"),
    [
        (10, 0, 0.1, Status.SUCCESS),
        (10, 1, 0.1, Status.PARTIAL),
        (10, 2, 0.1, Status.FAILED),
        (10, 1, 0.0, Status.FAILED),
        (200, 20, 0.1, Status.PARTIAL),
        (200, 21, 0.1, Status.FAILED),
        (3, 3, 1.0, Status.PARTIAL),
        (0, 0, 0.0, Status.SUCCESS),
        (0, 0, 1.0, Status.SUCCESS),
        (1_000_000, 300_000, 0.3, Status.PARTIAL),
        (1_000_000, 300_001, 0.3, Status.FAILED),
    ],
)
def test_tolerated_failures_make_a_fanout_partial(items: int, failed: int, tolerance: float, status: Status) -> None:
    exact = FanoutFields(partial_tolerance=tolerance).tolerance

    assert status_of(Counts(succeeded=items - failed, failed=failed), items, exact) is status


@given(items=st.integers(1, 10_000), tenths=st.integers(0, 1000), failed=st.integers(0, 10_000))
def test_the_tolerance_is_exact_for_every_decimal(items: int, tenths: int, failed: int) -> None:
    exact = FanoutFields(partial_tolerance=tenths / 1000).tolerance
    status = status_of(Counts(failed=failed), items, exact)

    assert (status is not Status.FAILED) == (failed * 1000 <= tenths * items)


_ALL, _SOME, _NONE, _EMPTY = (Counts(succeeded=2), Counts(succeeded=1, failed=1), Counts(failed=2), Counts())


@pytest.mark.proves("R0-33", "R0-76", "F5")
@pytest.mark.parametrize(
    ("run_on", "tolerance", "runs"),
    [
        (RunOn.SUCCESS, 0.0, (True, False, False, False)),
        (RunOn.SUCCESS, 0.5, (True, True, False, False)),
        (RunOn.SUCCESS, 1.0, (True, True, True, False)),
        (RunOn.ANY_SUCCESS, 0.0, (True, True, False, False)),
        (RunOn.ALWAYS, 0.0, (True, True, True, True)),
    ],
)
def test_run_on_decides_with_all_some_no_successes_and_no_items(
    run_on: RunOn, tolerance: float, runs: tuple[bool, ...]
) -> None:
    exact = Fraction(str(tolerance))
    outcomes = [(_ALL, 2), (_SOME, 2), (_NONE, 2), (_EMPTY, 0)]

    due = [is_reducer_due(run_on, status_of(counts, items, exact), counts, items) for counts, items in outcomes]

    assert tuple(due) == runs


def test_open_children_that_wait_are_one_range() -> None:
    progress = Progress()

    progress.start(3)
    progress.start(2)

    assert progress.open == [(0, 4)]


def test_an_ended_child_splits_its_range() -> None:
    progress = Progress()
    progress.start(5)

    progress.end([(2, Status.SUCCESS, MS), (0, Status.FAILED, MS)])

    assert progress.open == [(1, 1), (3, 4)]
    assert (progress.counts.succeeded, progress.counts.failed, progress.failures) == (1, 1, [0])


def test_a_child_that_ended_before_is_not_counted_again() -> None:
    progress = Progress()
    progress.start(1)
    progress.end([(0, Status.SUCCESS, MS)])

    progress.end([(0, Status.SUCCESS, MS)])

    assert progress.counts.ended == 1


@pytest.mark.proves("F1")
@given(st.data())
def test_ranges_name_the_same_children_as_a_set(data: st.DataObject) -> None:
    progress, known, ended = Progress(), set[int](), 0
    for _ in range(data.draw(st.integers(1, 8))):
        known.update(progress.start(data.draw(st.integers(0, 6))))
        batch = data.draw(st.lists(st.integers(0, 50), max_size=8))
        ended += len(known & set(batch))
        known -= set(batch)
        progress.end([(index, Status.SUCCESS, MS) for index in batch])
        progress = Progress.read(progress.encode())

        assert sorted(progress.open_items()) == sorted(known)
        assert (progress.open_count, progress.counts.ended) == (len(known), ended)


def test_the_slowest_items_are_kept() -> None:
    progress = Progress()
    progress.start(100)

    progress.end([(index, Status.SUCCESS, Millis(index % 50)) for index in range(100)])

    assert [duration for duration, _ in progress.slowest] == [45, 45, 46, 46, 47, 47, 48, 48, 49, 49]
