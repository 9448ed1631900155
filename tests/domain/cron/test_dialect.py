"""The meaning of each part of the dialect, without clock changes."""

from datetime import UTC, datetime, timedelta

import pytest

from foliot import cron
from tests.cases import for_each

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)  # a Thursday
EVE = NEW_YEAR - timedelta(seconds=1)


def times(expression: str, number: int) -> list[str]:
    """Return the times of the first fires of 2026."""
    fires = cron.compile(expression).between(NEW_YEAR, NEW_YEAR.replace(year=2126), number)
    return [fire.strftime("%H:%M:%S").removesuffix(":00") for fire in fires]


def days(expression: str, number: int) -> list[str]:
    """Return the dates of the first fires of 2026 and later."""
    fires = cron.compile(expression).between(NEW_YEAR, NEW_YEAR.replace(year=2126), number)
    return [fire.date().isoformat() for fire in fires]


@pytest.mark.proves("R4-13", "R4-36", "R4-70")
@for_each(
    ("expression", "expected"),
    [
        ("30 2 * * *", ["02:30", "02:30"]),
        ("* * * * *", ["00:00", "00:01", "00:02"]),
        ("*/20 * * * *", ["00:00", "00:20", "00:40", "01:00"]),
        ("5/20 * * * *", ["00:05", "00:25", "00:45", "01:05"]),
        ("10-30/10 * * * *", ["00:10", "00:20", "00:30", "01:10"]),
        ("58-1 0 * * *", ["00:00", "00:01", "00:58", "00:59", "00:00"]),
        ("50-10/10 0 * * *", ["00:00", "00:10", "00:50", "00:00"]),
        ("0 22-2 * * *", ["00:00", "01:00", "02:00", "22:00", "23:00", "00:00"]),
        ("0 22-3/2 * * *", ["00:00", "02:00", "22:00", "00:00"]),
        ("0 5-5 * * *", ["05:00", "05:00"]),
        ("0,30 8,20 * * *", ["08:00", "08:30", "20:00", "20:30", "08:00"]),
        ("30,0,30 8 * * *", ["08:00", "08:30", "08:00"]),
        ("? ? ? ? ?", ["00:00", "00:01"]),
        ("?/30 * * * *", ["00:00", "00:30", "01:00"]),
        ("00 08 * * *", ["08:00"]),
        ("*/60 */24 * * *", ["00:00", "00:00"]),
        (" 0\t8  * * * ", ["08:00"]),
    ],
)
def test_times_of_day(expression: str, expected: list[str]) -> None:
    assert times(expression, len(expected)) == expected


@pytest.mark.proves("R4-13", "R4-36")
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("* * * * * *", ["00:00", "00:00:01", "00:00:02"]),
        ("*/25 * * * * *", ["00:00", "00:00:25", "00:00:50", "00:01"]),
        ("30 0 8 * * *", ["08:00:30", "08:00:30"]),
        ("55-5/5 0 0 * * *", ["00:00", "00:00:05", "00:00:55"]),
        ("0 0 8 * * ? *", ["08:00"]),
    ],
)
def test_six_fields_begin_with_the_second(expression: str, expected: list[str]) -> None:
    assert times(expression, len(expected)) == expected


@pytest.mark.proves("R4-36")
def test_a_second_level_expression_fires_sixty_times_a_minute() -> None:
    assert cron.compile("* * * * * *").count_epochs(1_000_000_020, 1_000_000_079) == 60


@pytest.mark.proves("R4-70")
@for_each(
    ("expression", "expected"),
    [
        ("0 0 15 * *", ["2026-01-15", "2026-02-15"]),
        ("0 0 31 * *", ["2026-01-31", "2026-03-31", "2026-05-31"]),
        ("0 0 29 2 *", ["2028-02-29", "2032-02-29"]),
        ("0 0 30-2 1 *", ["2026-01-01", "2026-01-02", "2026-01-30", "2026-01-31", "2027-01-01"]),
        ("0 0 L * *", ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]),
        ("0 0 l 2 *", ["2026-02-28", "2027-02-28", "2028-02-29"]),
        ("0 0 L-3 * *", ["2026-01-28", "2026-02-25", "2026-03-28"]),
        ("0 0 L-0 2 *", ["2026-02-28"]),
        ("0 0 L-30 * *", ["2026-01-01", "2026-03-01", "2026-05-01"]),
        ("0 0 LW * *", ["2026-01-30", "2026-02-27", "2026-03-31", "2026-04-30", "2026-05-29"]),
        ("0 0 L-2W * *", ["2026-01-29", "2026-02-26", "2026-03-30"]),
        ("0 0 15W * *", ["2026-01-15", "2026-02-16", "2026-03-16", "2026-04-15", "2026-05-15", "2026-06-15"]),
        ("0 0 1W * *", ["2026-01-01", "2026-02-02", "2026-03-02", "2026-04-01", "2026-05-01", "2026-06-01"]),
        ("0 0 1w 8 *", ["2026-08-03", "2027-08-02"]),
        ("0 0 31W 1,5 *", ["2026-01-30", "2026-05-29", "2027-01-29"]),
        ("0 0 31W 4-5 *", ["2026-05-29"]),
        ("0 0 1,L,15W 2 *", ["2026-02-01", "2026-02-16", "2026-02-28"]),
        ("0 0 1 JAN,jul *", ["2026-01-01", "2026-07-01", "2027-01-01"]),
        ("0 0 1 NOV-FEB *", ["2026-01-01", "2026-02-01", "2026-11-01", "2026-12-01"]),
        ("0 0 1 */5 *", ["2026-01-01", "2026-06-01", "2026-11-01", "2027-01-01"]),
        ("0 0 1 8/2 *", ["2026-08-01", "2026-10-01", "2026-12-01", "2027-08-01"]),
    ],
)
def test_days_of_the_month(expression: str, expected: list[str]) -> None:
    assert days(expression, len(expected)) == expected


@pytest.mark.proves("R4-70")
@for_each(
    ("expression", "expected"),
    [
        ("0 0 * * 0", ["2026-01-04", "2026-01-11"]),
        ("0 0 * * 7", ["2026-01-04", "2026-01-11"]),
        ("0 0 * * sun", ["2026-01-04", "2026-01-11"]),
        ("0 0 * * MON,Wed", ["2026-01-05", "2026-01-07", "2026-01-12"]),
        ("0 0 * * MON-FRI", ["2026-01-01", "2026-01-02", "2026-01-05"]),
        ("0 0 * * FRI-MON", ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05", "2026-01-09"]),
        ("0 0 * * FRI-MON/2", ["2026-01-02", "2026-01-04", "2026-01-09"]),
        ("0 0 * * 6-7", ["2026-01-03", "2026-01-04", "2026-01-10"]),
        ("0 0 * * 0-7", ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]),
        ("0 0 * * 7-2", ["2026-01-04", "2026-01-05", "2026-01-06", "2026-01-11"]),
        ("0 0 * * 5-7/2", ["2026-01-02", "2026-01-04", "2026-01-09"]),
        ("0 0 * * 5/2", ["2026-01-02", "2026-01-09"]),
        ("0 0 * JAN 5/2", ["2026-01-02", "2026-01-09", "2026-01-16"]),
        ("0 0 * * 7/3", ["2026-01-03", "2026-01-04", "2026-01-07"]),
        ("0 0 * * 5L", ["2026-01-30", "2026-02-27"]),
        ("0 0 * * L5", ["2026-01-30", "2026-02-27"]),
        ("0 0 * * FRI#L", ["2026-01-30", "2026-02-27"]),
        ("0 0 * * fril", ["2026-01-30", "2026-02-27"]),
        ("0 0 * * 7L", ["2026-01-25", "2026-02-22"]),
        ("0 0 * * MON-FRIL", ["2026-01-26", "2026-01-27", "2026-01-28", "2026-01-29", "2026-01-30", "2026-02-23"]),
        ("0 0 * * LMON-TUE", ["2026-01-26", "2026-01-27", "2026-02-23"]),
        ("0 0 * * FRI-MONL", ["2026-01-25", "2026-01-26", "2026-01-30", "2026-01-31", "2026-02-22"]),
        ("0 0 * * 5#2", ["2026-01-09", "2026-02-13"]),
        ("0 0 * * FRI#5", ["2026-01-30", "2026-05-29", "2026-07-31"]),
        ("0 0 * * MON-TUE#1", ["2026-01-05", "2026-01-06", "2026-02-02"]),
        ("0 0 * * MON,5#2,SUN#L", ["2026-01-05", "2026-01-09", "2026-01-12", "2026-01-19", "2026-01-25"]),
        ("0 0 * 2 MON#5", ["2044-02-29", "2072-02-29"]),
    ],
)
def test_days_of_the_week(expression: str, expected: list[str]) -> None:
    assert days(expression, len(expected)) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 0 1 1 ? 2030", ["2030-01-01"]),
        ("0 0 0 1 1 ? 2030-2032", ["2030-01-01", "2031-01-01", "2032-01-01"]),
        ("0 0 0 1 1 ? */20", ["2030-01-01", "2050-01-01", "2070-01-01"]),
        ("0 0 0 1 1 ? 2030/20,2031", ["2030-01-01", "2031-01-01", "2050-01-01"]),
        ("0 0 0 29 2 ? 2027,2029,2096", ["2096-02-29"]),
        ("0 0 0 1 1 ? 1999", []),
    ],
)
def test_seven_fields_end_with_the_year(expression: str, expected: list[str]) -> None:
    assert days(expression, len(expected) or 1) == expected


def test_the_previous_fire_is_searched_in_earlier_years_only() -> None:
    compiled = cron.compile("0 0 0 1 6 ? 2030,2032")

    assert compiled.previous(datetime(2032, 3, 1, tzinfo=UTC)) == datetime(2030, 6, 1, tzinfo=UTC)
    assert compiled.previous(datetime(2030, 3, 1, tzinfo=UTC)) is None


@for_each(
    ("macro", "fields"),
    [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@HOURLY", "0 * * * *"),
        ("@every_minute", "* * * * *"),
        ("@every_second", "* * * * * *"),
    ],
)
def test_macros_are_expanded_to_fields(macro: str, fields: str) -> None:
    assert times(macro, 5) == times(fields, 5)
    assert days(macro, 5) == days(fields, 5)


def test_clock_change_rules_apply_to_expanded_macros() -> None:
    fold = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)

    assert cron.compile("@hourly", "Europe/Berlin").next(fold) == fold.replace(hour=2, minute=0)


@pytest.mark.parametrize("prefix", ["TZ", "CRON_TZ"])
def test_a_prefix_names_the_zone(prefix: str) -> None:
    compiled = cron.compile(f"{prefix}=Europe/Berlin 0 3 * * *")

    assert compiled.timezone == "Europe/Berlin"
    assert compiled.next(EVE) == datetime(2026, 1, 1, 2, tzinfo=UTC)


def test_a_prefix_may_repeat_the_zone_of_the_schedule() -> None:
    assert cron.compile("TZ=Asia/Tokyo @daily", "Asia/Tokyo").timezone == "Asia/Tokyo"


@pytest.mark.parametrize("expression", ["0 0 29 2 MON", "0 0 L 2 SUN#5", "0 0 31 12 SAT"])
def test_rare_days_are_found_after_many_years(expression: str) -> None:
    compiled = cron.compile(expression, dom_dow="and")
    fire = compiled.next(datetime(2101, 1, 1, tzinfo=UTC))

    assert fire is not None
    assert fire.isoweekday() == {"MON": 1, "SUN#5": 7, "SAT": 6}[expression.split()[-1]]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Tokyo"])
def test_a_leap_day_on_a_monday_is_found_forty_years_later_across_a_century(zone: str) -> None:
    compiled = cron.compile("0 12 29 2 MON", zone, dom_dow="and")
    first, second = compiled.between(datetime(2072, 1, 1, tzinfo=UTC), datetime(2113, 1, 1, tzinfo=UTC), 9)

    assert (first.date().isoformat(), second.date().isoformat()) == ("2072-02-29", "2112-02-29")


def test_nothing_fires_after_the_year_9999() -> None:
    compiled = cron.compile("59 59 23 31 12 ?")
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)

    assert compiled.next(last - timedelta(days=9)) == last
    assert compiled.next(last) is None
    assert compiled.next_epoch(10**15) is None


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12"])
def test_the_calendar_ends_with_the_year_9999_in_local_time_or_utc(zone: str) -> None:
    compiled = cron.compile("* * * * * *", zone)
    last, first = compiled.previous_epoch(10**15), compiled.next_epoch(-(10**15))

    assert last is not None
    assert first is not None
    assert (compiled.zone.moment(last).year, compiled.zone.moment(first).year) == (9999, 1)
    assert compiled.next_epoch(last) is None
    assert compiled.previous_epoch(first) is None
