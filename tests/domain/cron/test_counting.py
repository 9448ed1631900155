"""Counting fires without computing each of them."""

import pytest

from foliot import cron

LAST_SECOND = 253_402_300_799


@pytest.mark.proves("R4-36")
def test_all_seconds_of_all_years_are_counted() -> None:
    assert cron.compile("* * * * * *").count_epochs(0, LAST_SECOND) == LAST_SECOND + 1


def test_all_leap_days_are_counted() -> None:
    leap_years = sum(1 for year in range(1970, 10_000) if year % 4 == 0 and (year % 100 or year % 400 == 0))

    assert cron.compile("0 0 29 2 *").count_epochs(0, LAST_SECOND) == leap_years


@pytest.mark.parametrize(
    ("expression", "per_year"),
    [
        ("30 2 * * *", 366),
        ("*/30 2 * * *", 732),
        ("0,30 2 * * *", 731),
        ("0 2,3 * * *", 731),
        ("* * * * * *", 366 * 86_400),
    ],
)
def test_counting_across_clock_changes_equals_the_number_of_fires(expression: str, per_year: int) -> None:
    new_year = 1_704_063_600  # 2024, a leap year, in Berlin

    assert cron.compile(expression, "Europe/Berlin").count_epochs(new_year, new_year + 366 * 86_400 - 1) == per_year


def test_counting_includes_both_ends() -> None:
    hourly = cron.compile("0 * * * *")

    assert [hourly.count_epochs(*span) for span in [(0, 3_600), (1, 3_600), (0, 3_599), (1, 3_599), (9, 3)]] == [
        *(2, 1, 1, 0, 0),
    ]


def test_counting_ends_with_the_calendar() -> None:
    assert cron.compile("0 0 1 1 *").count_epochs(-(10**15), 10**15) == 9_999
