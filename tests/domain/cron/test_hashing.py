"""H: a value hashed from the key of a schedule."""

from collections import Counter

import pytest

from foliot import cron
from foliot.domain.cron import is_hashed
from foliot.domain.cron.compiled import Cron
from foliot.domain.cron.wallclock import WallClock
from tests.cases import for_each


def pattern(expression: str, key: str = "report") -> tuple[tuple[int, ...], ...]:
    """Return the values of H for second, minute, hour, day-of-month, month and day-of-week."""
    compiled = cron.compile(expression, key=key)
    assert isinstance(compiled, WallClock)
    times, days = compiled.pattern.times, compiled.pattern.days
    return times.seconds, times.minutes, times.hours, days.month_days.days, days.months, days.week_days.days


def test_values_of_h_are_the_same_in_every_release() -> None:
    assert pattern("H H H H H H") == ((30,), (37,), (14,), (26,), (7,), (1,))


def test_h_is_hashed_separately_for_each_field() -> None:
    drawn = Counter(pattern("H H * * *", key=f"job-{number}")[1:3] for number in range(2_000))

    assert len(drawn) > 700
    assert {minute for (minute,), _ in drawn} == set(range(60))
    assert {hour for _, (hour,) in drawn} == set(range(24))


def test_a_range_limits_the_value_of_h() -> None:
    drawn = {pattern("H(10-12) H(22-2) * * *", key=str(number))[1:3] for number in range(300)}

    assert {minute for (minute,), _ in drawn} == {10, 11, 12}
    assert {hour for _, (hour,) in drawn} == {22, 23, 0, 1, 2}


def test_h_with_a_step_hashes_only_the_start() -> None:
    drawn = {pattern("H/15 * * * *", key=str(number))[1] for number in range(300)}

    assert drawn == {tuple(range(start, 60, 15)) for start in range(15)}


def test_h_accepts_a_step_with_a_range() -> None:
    drawn = {pattern("H(0-29)/10 * * * *", key=str(number))[1] for number in range(300)}

    assert drawn == {tuple(range(start, 30, 10)) for start in range(10)}


def test_the_day_of_h_exists_in_every_month() -> None:
    assert {pattern("0 0 H * *", key=str(number))[3] for number in range(500)} == {(day,) for day in range(1, 29)}


def test_h_is_accepted_in_a_list_and_in_lower_case() -> None:
    assert pattern("h,59 * * * *")[1] == (37, 59)


@for_each(
    ("expression", "position", "message"),
    [
        ("H(0-29)/40 * * * *", 8, "step '40' is larger than the range of H"),
        ("H/61 * * * *", 2, "step '61' is larger than the minute field"),
        ("0 0 H/29 * *", 6, "step '29' is larger than the range of H"),
        ("H( * * * *", 0, "'H(' cannot be hashed"),
        ("H(5) * * * *", 0, "'H(5)' cannot be hashed"),
        ("H(0-60) * * * *", 4, "minute '60' is outside 0-59"),
        ("H(-5) * * * *", 2, "'-5' in the minute field begins with a sign"),
        ("H-5 * * * *", 0, "'H-5' cannot be hashed"),
        ("HH * * * *", 0, "'HH' cannot be hashed"),
        ("* * * * * * H", 12, "H is not allowed in the year field"),
        ("* * * * H#2", 8, "'H' is not a day-of-week"),
        ("H/0 * * * *", 2, "a step cannot be 0"),
    ],
)
def test_faults_in_h_have_a_position(expression: str, position: int, message: str) -> None:
    with pytest.raises(cron.InvalidCron) as caught:
        cron.compile(expression, key="report")

    assert message in caught.value.message
    assert caught.value.position == position


@pytest.mark.parametrize("key", ["", "ü", "\ud800", "a\nb", "x" * 10_000])
def test_any_text_is_a_key(key: str) -> None:
    assert isinstance(cron.compile("H H * * *", key=key), Cron)


@pytest.mark.parametrize("expression", ["0 3 * * THU", "@hourly", "@every 1h", "CRON_TZ=Asia/Ho_Chi_Minh 0 3 * * *"])
def test_an_h_inside_a_name_is_not_hashed_and_equal_expressions_share_one_object(expression: str) -> None:
    assert not is_hashed(expression)
    assert cron.compile(expression, key="a") is cron.compile(expression, key="b")


@pytest.mark.parametrize("expression", ["H * * * *", "0\th * * *", "0,H 3 * * *", "0 0 H(1-5)/2 * *"])
def test_an_item_that_begins_with_h_is_hashed(expression: str) -> None:
    assert is_hashed(expression)
    assert cron.compile(expression, key="a") is not cron.compile(expression, key="b")
