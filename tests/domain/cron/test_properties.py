"""Properties of every expression, in every zone, at every moment."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from foliot import cron
from foliot.domain.cron.compiled import Cron
from tests.domain.cron import oracle
from tests.domain.cron.strategies import (
    day_rules,
    expressions,
    minute_expressions,
    moments,
    policies,
    second_expressions,
    zones,
)

DAY = 86_400


def compiled_or_rejected(expression: str, zone: str, dst: cron.Dst = "vixie", dom_dow: cron.DomDow = "or") -> Cron:
    """Random day fields may exclude each other: such examples are dropped."""
    try:
        return cron.compile(expression, zone, dst=dst, dom_dow=dom_dow)
    except cron.InvalidCron as error:
        assume("never matches" not in error.message)
        raise


@pytest.mark.proves("T13", "R4-45", "R4-70")
@settings(max_examples=150)
@given(minute_expressions, zones, moments, policies, day_rules)
@example("30 2 * * *", "Europe/Berlin", 1_711_846_800, "vixie", "or")
@example("30 2 * * *", "Europe/Berlin", 1_729_990_800, "vixie", "or")
@example("0 * 30 * *", "Pacific/Apia", 1_325_239_200, "vixie", "or")
@example("15 1-3 * * *", "Antarctica/Troll", 1_711_846_800, "skip", "or")
@example("45 1 * * *", "Australia/Lord_Howe", 1_712_415_600, "literal", "or")
def test_fires_equal_a_slow_search(
    expression: str, zone: str, moment: int, dst: cron.Dst, dom_dow: cron.DomDow
) -> None:
    compiled = compiled_or_rejected(expression, zone, dst, dom_dow)
    start, end = moment - DAY // 2, moment + DAY // 2

    expected = oracle.fires(expression, zone, start, end, dst, dom_dow)

    assert compiled.epochs_between(start, end, 10_000) == expected
    assert backwards(compiled, start, end) == expected
    assert compiled.count_epochs(start, end) == len(expected)


@pytest.mark.proves("T13", "R4-36", "R4-70")
@settings(max_examples=60)
@given(second_expressions, zones, moments, policies)
def test_fires_with_seconds_equal_a_slow_search(expression: str, zone: str, moment: int, dst: cron.Dst) -> None:
    compiled = compiled_or_rejected(expression, zone, dst)
    start, end = moment - 3_600, moment + 3_600

    expected = oracle.fires(expression, zone, start, end, dst)

    assert compiled.epochs_between(start, end, 10_000) == expected
    assert backwards(compiled, start, end) == expected
    assert compiled.count_epochs(start, end) == len(expected)


def backwards(compiled: Cron, start: int, end: int) -> list[int]:
    found: list[int] = []
    fire = compiled.previous_epoch(end + 1)
    while fire is not None and fire >= start:
        found.append(fire)
        fire = compiled.previous_epoch(fire)
    return found[::-1]


@pytest.mark.proves("R4-45")
@given(expressions, zones, moments)
def test_previous_is_the_exact_inverse_of_next(expression: str, zone: str, moment: int) -> None:
    compiled = compiled_or_rejected(expression, zone)
    fire = compiled.next_epoch(moment)
    assume(fire is not None)
    assert fire is not None

    assert fire > moment
    assert compiled.previous_epoch(fire + 1) == fire
    assert compiled.next_epoch(fire - 1) == fire
    before = compiled.previous_epoch(fire)
    assert before is None or before <= moment
    assert before is None or compiled.next_epoch(before) == fire


@given(expressions, zones, moments, st.lists(st.integers(0, 400 * DAY), min_size=2, max_size=2))
def test_counts_of_adjacent_periods_add_up(expression: str, zone: str, moment: int, spans: list[int]) -> None:
    compiled = compiled_or_rejected(expression, zone)
    middle, end = moment + spans[0], moment + spans[0] + spans[1]

    left, right = compiled.count_epochs(moment, middle), compiled.count_epochs(middle + 1, end)

    assert left + right == compiled.count_epochs(moment, end)


@settings(max_examples=60)
@given(minute_expressions, zones, moments, st.integers(0, 60 * DAY))
def test_the_count_is_the_number_of_fires(expression: str, zone: str, moment: int, span: int) -> None:
    compiled = compiled_or_rejected(expression, zone)

    fires = compiled.epochs_between(moment, moment + span, 100_000)

    assert compiled.count_epochs(moment, moment + span) == len(fires)


@given(expressions, moments)
def test_earlier_calls_do_not_affect_the_result(expression: str, moment: int) -> None:
    compiled = compiled_or_rejected(expression, "Europe/Berlin")
    answer = compiled.next_epoch(moment)

    for other in (0, moment + 200 * DAY, 10**11, moment - 200 * DAY):
        compiled.next_epoch(other)
        assert compiled.next_epoch(moment) == answer


@given(expressions, zones, moments, policies, st.lists(st.integers(-2 * DAY, 2 * DAY), min_size=2, max_size=12))
@example("5,40 * * * *", "Australia/Lord_Howe", 1_791_041_400, "vixie", [1, 1, -1_700])
@example("0,30 0 * * *", "America/St_Johns", 1_268_537_460, "vixie", [-61, -61, -60])
def test_calls_in_any_order_return_the_same_fires(
    expression: str, zone: str, moment: int, dst: cron.Dst, steps: list[int]
) -> None:
    compiled = compiled_or_rejected(expression, zone, dst)
    for step in steps:
        fire = compiled.next_epoch(moment + step)
        if fire is not None:
            assert compiled.count_epochs(moment + step + 1, fire) == compiled.count_epochs(fire, fire) == 1
