"""The short way decides what the long way decides."""

from itertools import repeat
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from foliot.domain.firing import DueSchedule, Firing, Tempo, plan_firing
from foliot.domain.instant import SECOND, Instant, Millis, later
from foliot.domain.launch import launch_job
from foliot.domain.punctual import fire_punctual
from foliot.domain.schedule import Catchup, Overlap
from foliot.testing.builders import REPORT, a_due_schedule, a_job, every
from foliot.testing.clock import START

TEMPO = Tempo()
CIRCUMSTANCES: dict[str, Any] = {"jobs": {REPORT: a_job()}, "tempo": TEMPO, "launch": launch_job}


@st.composite
def due_schedules(draw: st.DrawFn) -> DueSchedule:
    spec = every(
        draw(st.integers(1, 30)),
        anchor=START,
        jitter=Millis(draw(st.sampled_from([0, 0, 0, 500]))),
        overlap=draw(st.sampled_from(Overlap)),
        catchup=draw(st.sampled_from(Catchup)),
        start_at=draw(st.none() | st.integers(0, 30).map(lambda seconds: later(START, seconds * SECOND))),
        end_at=draw(st.none() | st.integers(20, 90).map(lambda seconds: later(START, seconds * SECOND))),
    )
    return a_due_schedule(
        spec,
        settled_until=later(START, draw(st.integers(0, 40)) * SECOND),
        in_flight=draw(st.sampled_from([0, 0, 0, 1])),
        behind_since=draw(st.sampled_from([None, None, None, START])),
    )


@pytest.mark.proves("T1", "T2", "T3")
@given(due_schedules(), st.integers(0, 35_000))
@settings(max_examples=500)
def test_a_punctual_firing_is_what_the_long_way_decides(due: DueSchedule, elapsed: int) -> None:
    now = later(due.settled_until, elapsed)

    short = fire_punctual(due, now, run_ids=repeat("RUN"), **CIRCUMSTANCES)

    event("short" if short else "left to the long way")
    assert short in (None, plan_firing(due, now, run_ids=repeat("RUN"), **CIRCUMSTANCES))


def test_a_schedule_that_is_due_on_time_takes_the_short_way() -> None:
    due = a_due_schedule(every(60, anchor=START), settled_until=START)

    firing = fire_punctual(due, Instant(START + 60 * SECOND), run_ids=repeat("RUN"), **CIRCUMSTANCES)

    assert isinstance(firing, Firing)
