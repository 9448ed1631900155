"""How runs become the bars and the counts of the timeline of all jobs."""

from typing import Any

import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import MINUTE, Instant, Millis, to_datetime
from foliot.domain.run.run import Run, Status
from foliot.errors import InvalidInput
from foliot.service.queries.job_timelines import (
    Interval,
    concurrency,
    read_interval,
    spans_in,
    view_rows,
)
from foliot.testing.clock import START
from tests.service.test_timeline import a_stored_run

TEN = Interval(START, Instant(START + 10 * MINUTE), Millis(MINUTE))
NOW = Instant(START + 8 * MINUTE)


def ran(run_id: str, begin: float, end: float | None, status: Status = Status.SUCCESS, **fields: Any) -> Run:
    """Build a run from `begin` to `end`, in minutes."""
    finished = None if end is None else Instant(round(START + end * MINUTE))
    begun = Instant(round(START + begin * MINUTE))
    known = {"id": RunId(run_id), "due_at": begun, "started_at": begun, "finished_at": finished}
    return a_stored_run(status, **known | fields)


def bars_of(*runs: Run) -> list[tuple[str, int, str]]:
    [row] = view_rows(list(spans_in(runs, TEN, NOW)), [], TEN)
    return [(bar.run_id, bar.count, bar.status) for bar in row.bars]


def test_short_runs_of_a_step_are_one_bar_with_the_worst_status() -> None:
    runs = (ran("A", 1.1, 1.2), ran("B", 1.3, 1.4, Status.FAILED), ran("C", 1.5, 1.6), ran("D", 2.1, 2.2))

    assert bars_of(*runs) == [("B", 3, "failed"), ("D", 1, "success")]


def test_a_long_run_and_an_open_run_have_bars_of_their_own() -> None:
    runs = (ran("A", 1.1, 3), ran("B", 1.2, 1.3), ran("C", 1.4, None, Status.RUNNING))

    assert bars_of(*runs) == [("A", 1, "success"), ("B", 1, "success"), ("C", 1, "running")]


def test_only_what_was_under_way_in_the_interval_is_shown() -> None:
    runs = (ran("A", -5, -1), ran("B", -5, 1), ran("C", 11, 12), ran("D", 9, None, Status.SCHEDULED, started_at=None))

    assert bars_of(*runs) == [("B", 1, "success")]


def test_the_most_runs_at_once_are_counted_for_each_step() -> None:
    skipped = ran("S", 4.5, 4.5, Status.SKIPPED, started_at=None)
    runs = (ran("A", -1, 2.5), ran("B", 1.1, 1.2), ran("C", 1.3, 1.4), ran("D", 7.5, None, Status.RUNNING), skipped)

    assert concurrency(list(spans_in(runs, TEN, NOW)), TEN) == [1, 2, 1, 0, 0, 0, 0, 1, 1, 0]


def test_fire_times_of_a_step_are_one_mark() -> None:
    fires = [("job", Instant(NOW + each)) for each in (0, 20_000, 70_000)]

    [row] = view_rows([], fires, TEN)
    assert [(fire.at, fire.count) for fire in row.fires] == [
        (to_datetime(NOW), 2),
        (to_datetime(Instant(NOW + 70_000)), 1),
    ]
    assert row.job_id == JobId("job")


def test_an_interval_has_whole_steps_and_at_most_400_of_them() -> None:
    for minutes in (1, 60, 24 * 60, 7 * 24 * 60, 32 * 24 * 60):
        until = Instant(NOW + minutes * MINUTE)
        found = read_interval(to_datetime(NOW), to_datetime(until), NOW)
        assert found.since <= NOW < until <= found.until
        assert (found.until - found.since) % found.step == 0
        assert (found.until - found.since) // found.step <= 402
    with pytest.raises(InvalidInput):
        read_interval(to_datetime(NOW), to_datetime(NOW), NOW)
