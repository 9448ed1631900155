"""All kinds of rules: next, previous, count and between agree with each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.instant import SECOND, Instant, Millis
from foliot.domain.schedule.rule import NEVER, Every, Once, Rule
from foliot.domain.schedule.schedule import rule_of
from foliot.testing.builders import NIGHTLY, cron
from foliot.testing.clock import START

MOMENTS = st.integers(START - 10_000_000, START + 10_000_000).map(Instant)
STEPS = st.integers(1, 100_000).map(lambda seconds: Millis(seconds * SECOND))
CALENDARS = st.sampled_from(
    [
        rule_of(cron(expr, timezone=zone), NIGHTLY)
        for expr in ("*/7 * * * * *", "*/5 * * * *", "30 2 * * *", "0 0 L * *")
        for zone in ("UTC", "America/New_York")
    ]
)
RULES: st.SearchStrategy[Rule] = st.one_of(
    st.just(NEVER), st.builds(Once, MOMENTS), st.builds(Every, STEPS, MOMENTS), CALENDARS
)


@given(RULES, MOMENTS)
def test_next_is_later_and_previous_is_earlier(rule: Rule, moment: Instant) -> None:
    following, preceding = rule.next(moment), rule.previous(moment)

    assert following is None or following > moment
    assert preceding is None or preceding < moment


@given(RULES, MOMENTS)
def test_previous_is_the_inverse_of_next(rule: Rule, moment: Instant) -> None:
    following = rule.next(moment)
    if following is None:
        return

    assert rule.previous(Instant(following + 1)) == following
    before = rule.previous(following)
    assert before is None or before <= moment


@given(RULES, MOMENTS, st.integers(0, 3_600_000))
def test_between_and_count_agree(rule: Rule, first: Instant, span: int) -> None:
    last = Instant(first + span)

    moments = rule.between(first, last, 10_000)

    assert rule.count(first, last) == len(moments)
    assert moments == sorted(set(moments))
    assert all(first <= moment <= last for moment in moments)


@given(RULES, MOMENTS, st.integers(0, 3_600_000))
def test_between_and_next_agree(rule: Rule, first: Instant, span: int) -> None:
    last, walked = Instant(first + span), []
    moment = rule.next(Instant(first - 1))
    while moment is not None and moment <= last:
        walked.append(moment)
        moment = rule.next(moment)

    assert rule.between(first, last, 10_000) == walked


@given(RULES, MOMENTS, st.integers(0, 5))
def test_between_returns_the_earliest_moments_up_to_its_limit(rule: Rule, first: Instant, limit: int) -> None:
    last = Instant(first + 3_600_000)

    assert rule.between(first, last, limit) == rule.between(first, last, 10_000)[:limit]


@pytest.mark.proves("R1-14")
@given(STEPS, MOMENTS, st.integers(0, 10_000))
def test_a_late_fire_does_not_shift_an_interval(step: Millis, anchor: Instant, index: int) -> None:
    rule = Every(step, anchor)

    assert rule.next(Instant(anchor + index * step)) == anchor + (index + 1) * step
    assert rule.next(Instant(anchor + index * step - 1)) == anchor + index * step


@given(STEPS, MOMENTS)
def test_an_interval_has_no_moment_before_its_anchor(step: Millis, anchor: Instant) -> None:
    rule = Every(step, anchor)

    assert rule.previous(anchor) is None
    assert rule.next(Instant(anchor - 10**12)) == anchor
    assert rule.count(Instant(anchor - 10**12), anchor) == 1


@pytest.mark.proves("R1-13")
def test_a_once_rule_has_one_moment() -> None:
    rule = Once(START)

    assert (rule.next(Instant(START - 1)), rule.next(START)) == (START, None)
    assert (rule.previous(START), rule.previous(Instant(START + 1))) == (None, START)


def test_a_period_that_ends_before_it_begins_has_no_moments() -> None:
    for rule in (NEVER, Once(START), Every(SECOND, START), rule_of(cron("* * * * *"), NIGHTLY)):
        assert rule.count(Instant(START + 1), START) == 0
        assert rule.between(Instant(START + 1), START, 10) == []
