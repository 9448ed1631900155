"""What the newest runs of a job have in common."""

import pytest

from foliot.domain.ids import RunId
from foliot.domain.instant import SECOND, Instant
from foliot.domain.run.results import RunResult, failure_streak, usual, usual_duration
from foliot.domain.run.run import Status


def a_result(status: Status | None, seconds: float = 1, end: int = 1_000_000) -> RunResult:
    return RunResult(RunId("R"), status, Instant(int(end - seconds * SECOND)), Instant(end))


@pytest.mark.parametrize(
    ("values", "p50", "p95"),
    [([3.0], 3, 3), ([1.0, 2.0], 1, 2), ([5.0, 1.0, 3.0], 3, 5), ([float(one) for one in range(1, 101)], 50, 95)],
)
def test_percentiles_are_by_nearest_rank(values: list[float], p50: float, p95: float) -> None:
    assert usual(values) == (p50, p95, len(values))


def test_no_values_have_no_percentiles() -> None:
    assert usual([]) is None


def test_only_the_first_successes_count_for_the_usual_duration() -> None:
    results = [a_result(Status.FAILED, 9), a_result(None), a_result(Status.SUCCESS, 2), a_result(Status.SUCCESS, 8)]

    assert usual_duration(results, 1) == (2, 2, 1)
    assert usual_duration(results[:2], 9) is None


def test_failures_are_counted_until_a_success() -> None:
    failed = [a_result(Status.FAILED, end=30_000), a_result(Status.TIMEOUT, end=20_000)]
    between = [a_result(Status.SKIPPED), a_result(None), a_result(Status.CANCELLED)]

    streak = failure_streak([*failed, *between, a_result(Status.SUCCESS), a_result(Status.FAILED)], 10)

    assert streak == (2, 20_000, True)


def test_a_streak_without_a_success_may_be_longer_than_what_was_read() -> None:
    failed = [a_result(Status.FAILED)] * 3

    assert failure_streak(failed, 3).is_counted is False
    assert failure_streak(failed, 4).is_counted is True
    assert failure_streak([], 4) == (0, None, True)
