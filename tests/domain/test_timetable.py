"""The planned moments of a schedule, across edits and pauses."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.instant import LATEST, MINUTE, SECOND, Instant, later
from foliot.domain.schedule.schedule import Pause, Revision
from foliot.domain.schedule.timetable import Stretch, Timetable
from foliot.testing.builders import NIGHTLY, every, once
from foliot.testing.clock import START

HORIZON = 3_600


def minutes(*numbers: int) -> list[Instant]:
    return [later(START, number * MINUTE) for number in numbers]


def moments_of(stretches: list[Stretch], *, is_paused: bool) -> list[Instant]:
    return [
        moment
        for stretch in stretches
        if stretch.is_paused is is_paused
        for moment in stretch.rule.between(stretch.first, stretch.last, 100_000)
    ]


@st.composite
def timetables(draw: st.DrawFn) -> Timetable:
    cuts = sorted(draw(st.lists(st.integers(0, HORIZON), min_size=1, max_size=4, unique=True)))
    revisions = tuple(
        Revision(number, Instant(START + cut * SECOND), every(draw(st.integers(1, 200)), anchor=START))
        for number, cut in enumerate(cuts, 1)
    )
    edges = sorted(draw(st.lists(st.integers(0, HORIZON), max_size=6, unique=True)))
    pauses = [
        Pause(Instant(START + since * SECOND), Instant(START + until * SECOND)) for since, until in pairwise(edges)
    ][::2]
    is_still_paused: bool = draw(st.booleans())
    if pauses and is_still_paused:
        pauses[-1] = pauses[-1]._replace(until=None)
    return Timetable(NIGHTLY, revisions, tuple(pauses))


@pytest.mark.proves("T15")
def test_a_revision_applies_up_to_and_including_the_opening_of_the_next() -> None:
    revisions = (Revision(1, START, every(60, anchor=START)), Revision(2, minutes(3)[0], every(120, anchor=START)))
    timetable = Timetable(NIGHTLY, revisions)

    assert timetable.upcoming(START, 5) == minutes(1, 2, 3, 4, 6)
    assert [timetable.revision_at(moment).number for moment in minutes(1, 3, 4)] == [1, 1, 2]


@pytest.mark.proves("R4-15", "R4-16", "R4-63", "T3")
def test_start_at_and_end_at_are_included() -> None:
    spec = every(60, anchor=START, start_at=minutes(2)[0], end_at=minutes(4)[0])
    timetable = Timetable(NIGHTLY, (Revision(1, START, spec),))

    assert timetable.upcoming(START, 10) == minutes(2, 3, 4)


def test_a_pause_includes_its_end_and_not_its_beginning() -> None:
    pause = Pause(minutes(2)[0], minutes(4)[0])
    timetable = Timetable(NIGHTLY, (Revision(1, START, every(60, anchor=START)),), (pause,))

    assert timetable.upcoming(START, 4) == minutes(1, 2, 5, 6)
    assert [timetable.is_paused_at(moment) for moment in minutes(2, 3, 4, 5)] == [False, True, True, False]


def test_the_moment_at_which_a_pause_begins_is_not_paused() -> None:
    pause = Pause(minutes(2)[0], minutes(4)[0])
    timetable = Timetable(NIGHTLY, (Revision(1, START, every(60, anchor=START)),), (pause,))

    assert timetable.upcoming(Instant(minutes(2)[0] - 1), 1) == minutes(2)


def test_the_next_moment_may_be_paused() -> None:
    pause = Pause(START, None)
    timetable = Timetable(NIGHTLY, (Revision(1, START, every(60, anchor=START)),), (pause,))

    assert timetable.next(START) == minutes(1)[0]
    assert timetable.upcoming(START, 3) == []


def test_stretches_of_a_schedule_that_may_fire_early_end_later() -> None:
    spec = every(60, anchor=START, jitter=10 * SECOND)
    timetable = Timetable(NIGHTLY, (Revision(1, START, spec),))

    [stretch] = timetable.stretches(START, later(START, 50 * SECOND))

    assert stretch.last == minutes(1)[0]


def test_there_is_no_moment_after_the_last_one() -> None:
    timetable = Timetable(NIGHTLY, (Revision(1, START, once(minutes(1)[0])),))

    assert timetable.next(START) == minutes(1)[0]
    assert timetable.next(minutes(1)[0]) is None


@given(timetables(), st.integers(0, HORIZON), st.integers(0, HORIZON))
def test_stretches_are_in_order_and_do_not_overlap(timetable: Timetable, begin: int, length: int) -> None:
    after = Instant(START + begin * SECOND)
    stretches = list(timetable.stretches(after, later(after, length * SECOND)))

    assert all(stretch.first <= stretch.last for stretch in stretches)
    assert all(one.last < other.first for one, other in pairwise(stretches))
    assert all(after < stretch.first for stretch in stretches)


@given(timetables())
def test_stretches_agree_with_revision_at_and_is_paused_at(timetable: Timetable) -> None:
    until = later(START, HORIZON * SECOND)
    stretches = list(timetable.stretches(START, until))

    for is_paused in (True, False):
        moments = moments_of(stretches, is_paused=is_paused)
        assert all(timetable.is_paused_at(moment) is is_paused for moment in moments)
    for stretch in stretches:
        inside = stretch.rule.between(stretch.first, stretch.last, 100_000)
        assert {timetable.revision_at(moment).number for moment in inside} <= {stretch.revision.number}


@pytest.mark.proves("T2", "T3")
@given(timetables())
def test_every_planned_moment_is_in_exactly_one_stretch(timetable: Timetable) -> None:
    until = later(START, HORIZON * SECOND)
    stretches = list(timetable.stretches(START, until))
    found = moments_of(stretches, is_paused=True) + moments_of(stretches, is_paused=False)

    assert sorted(found) == planned_by_hand(timetable, until)


@given(timetables(), st.integers(0, HORIZON))
def test_next_returns_every_moment_of_the_stretches(timetable: Timetable, begin: int) -> None:
    after, until = Instant(START + begin * SECOND), later(START, HORIZON * SECOND)
    walked = []
    moment = timetable.next(after)
    while moment is not None and moment <= until:
        walked.append(moment)
        moment = timetable.next(moment)

    assert walked == [moment for moment in planned_by_hand(timetable, until) if moment > after]


@given(timetables())
def test_splitting_a_period_does_not_change_its_moments(timetable: Timetable) -> None:
    middle, until = later(START, HORIZON * SECOND // 2), later(START, HORIZON * SECOND)
    halves = [*timetable.stretches(START, middle), *timetable.stretches(middle, until)]

    whole = moments_of(list(timetable.stretches(START, until)), is_paused=False)

    assert moments_of(halves, is_paused=False) == whole


def planned_by_hand(timetable: Timetable, until: Instant) -> list[Instant]:
    """Return the planned moments by a test of every second against its revision."""
    planned = []
    for second in range(1, (until - START) // SECOND + 1):
        moment = Instant(START + second * SECOND)
        ruling = [revision for revision in timetable.revisions if revision.opened_at < moment]
        if ruling and second % int(ruling[-1].spec.expr) == 0:
            planned.append(moment)
    return planned


def test_distant_moments_are_found_as_fast_as_near_ones() -> None:
    timetable = Timetable(NIGHTLY, (Revision(1, START, every(1, anchor=START)),))

    assert timetable.next(Instant(LATEST - 1_000)) == LATEST
