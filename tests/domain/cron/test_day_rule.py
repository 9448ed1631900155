"""How day-of-month and day-of-week are combined."""

from datetime import UTC, datetime

import pytest

from foliot import cron
from foliot.domain.cron.compiler import EITHER_DAY

JANUARY = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 31, 23, tzinfo=UTC))


def days(expression: str, dom_dow: cron.DomDow = "or") -> list[int]:
    """Return the days of January 2026, which begins on a Thursday."""
    return [fire.day for fire in cron.compile(expression, dom_dow=dom_dow).between(*JANUARY, 100)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 13 * FRI", [2, 9, 13, 16, 23, 30]),
        ("0 0 1,2 * 5L", [1, 2, 30]),
        ("0 0 L * SUN#1", [4, 31]),
        ("0 0 1-31 * MON", list(range(1, 32))),
    ],
)
def test_one_of_two_restricted_day_fields_must_match(expression: str, expected: list[int]) -> None:
    assert days(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 */10 * THU", [1]),
        ("0 0 */10 * */2", [1, 11, 31]),
        ("0 0 13-19 * */5", [16, 18]),
        ("0 0 *,3 * MON", [5, 12, 19, 26]),
        ("0 0 ? * MON", [5, 12, 19, 26]),
        ("0 0 13 * ?", [13]),
        ("0 0 ?/10 * THU", [1]),
    ],
)
def test_both_day_fields_must_match_if_one_begins_with_a_star(expression: str, expected: list[int]) -> None:
    assert days(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"), [("0 0 9-15 * FRI", [9]), ("0 0 L * SAT", [31]), ("0 0 13 * *", [13])]
)
def test_dom_dow_and_requires_both_day_fields(expression: str, expected: list[int]) -> None:
    assert days(expression, "and") == expected


def test_two_restricted_day_fields_give_a_warning() -> None:
    assert cron.compile("0 0 13 * FRI").warnings == (EITHER_DAY,)


@pytest.mark.parametrize("expression", ["0 0 13 * *", "0 0 * * FRI", "0 0 */2 * FRI", "30 2 * * *", "@every 1h"])
def test_other_expressions_give_no_warning(expression: str) -> None:
    assert cron.compile(expression, "Europe/Berlin").warnings == ()


def test_dom_dow_and_gives_no_warning() -> None:
    assert cron.compile("0 0 13 * FRI", dom_dow="and").warnings == ()
