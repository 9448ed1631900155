"""The fast path decides as the full decision does."""

from collections import Counter
from itertools import repeat
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foliot.domain.instant import SECOND, Instant, Millis, later
from foliot.domain.schedule.catchup import plan_firing
from foliot.domain.schedule.fast_path import FastPath
from foliot.domain.schedule.firing import DueSchedule, Firing, RoundContext, SchedulerSettings
from foliot.domain.schedule.schedule import Catchup, Overlap, Pause, Revision
from foliot.domain.schedule.tick import PlannedTick, TickOutcome, TickReason
from foliot.domain.schedule.tick_run import make_run
from foliot.testing.builders import REPORT, a_due_schedule, a_job, every
from foliot.testing.clock import START

LEAST_SHARE = 0.3
RARELY = st.sampled_from([False] * 12 + [True])
"""Each condition that excludes the fast path is rare; otherwise nearly all examples would exclude it."""


def at(now: Instant) -> RoundContext:
    return RoundContext(now, {REPORT: a_job()}, SchedulerSettings(), make_run, repeat("RUN"))


def fire(due: DueSchedule, now: Instant) -> Firing | None:
    return FastPath(at(now), [due]).fire(due)


@st.composite
def due_schedules(draw: st.DrawFn) -> tuple[DueSchedule, Instant]:
    """A schedule and a time around which it is due: just before, on time, late, or twice."""
    step = draw(st.sampled_from([1, 4, 30, 60, 3_600]))
    settled_until = later(START, draw(st.integers(0, 2 * step)) * SECOND)
    spec = every(
        step,
        anchor=START,
        jitter=Millis(500 if draw(RARELY) else 0),
        overlap=draw(st.sampled_from(Overlap)),
        catchup=draw(st.sampled_from(Catchup)),
        start_at=later(START, draw(st.integers(0, 3 * step)) * SECOND) if draw(RARELY) else None,
        end_at=later(settled_until, draw(st.integers(0, 3 * step)) * SECOND) if draw(st.booleans()) else None,
    )
    due = a_due_schedule(
        spec,
        settled_until=settled_until,
        in_flight=int(draw(RARELY)),
        behind_since=START if draw(RARELY) else None,
    )
    if draw(RARELY):
        due = due._replace(revisions=(*due.revisions, Revision(2, later(settled_until, SECOND), spec)))
    moment = START + ((settled_until - START) // (step * SECOND) + 1) * step * SECOND
    return due, Instant(moment + draw(st.integers(-100, 6_500)))


@pytest.mark.proves("T1", "T2", "T3")
def test_the_fast_path_decides_as_the_full_decision_does() -> None:
    ways: Counter[bool] = Counter()

    @given(due_schedules())
    @settings(max_examples=500, database=None)
    def compare(case: tuple[DueSchedule, Instant]) -> None:
        due, now = case
        short = fire(due, now)
        ways[short is not None] += 1
        assert short in (None, plan_firing(due, at(now)))

    compare()

    assert ways[True] >= LEAST_SHARE * ways.total()


def test_a_schedule_that_is_due_on_time_takes_the_fast_path() -> None:
    due = a_due_schedule(every(60, anchor=START), settled_until=START)

    firing = fire(due, Instant(START + 60 * SECOND))

    assert isinstance(firing, Firing)


@pytest.mark.proves("T3", "T10", "T11")
@pytest.mark.parametrize(
    "fields",
    [
        {"in_flight": 1},
        {"pauses": (Pause(START, later(START, 120 * SECOND)),)},
        {"planned": (PlannedTick(START, later(START, 60 * SECOND), 1),)},
        {"behind_since": START},
    ],
)
def test_a_schedule_that_is_not_simple_takes_the_full_decision(fields: dict[str, Any]) -> None:
    due = a_due_schedule(every(60, anchor=START), **fields)

    assert fire(due, later(START, 60 * SECOND)) is None


@pytest.mark.proves("T3", "T11")
def test_a_moment_in_a_pause_does_not_run_even_if_it_is_on_time() -> None:
    due = a_due_schedule(every(60, anchor=START), pauses=(Pause(START, later(START, 61 * SECOND)),))

    firing = FastPath(at(later(START, 62 * SECOND)), [due]).decide(due)

    assert [(tick.outcome, tick.reason) for tick in firing.ticks] == [(TickOutcome.SKIPPED, TickReason.PAUSED)]
    assert firing.runs == []
