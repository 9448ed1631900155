"""Expressions that are independent of local time: @every counts elapsed time, manual ones never fire by themselves."""

from datetime import UTC, datetime, timedelta

import pytest

from foliot import cron
from tests.cases import for_each

ANCHOR = datetime(2024, 10, 26, 12, tzinfo=UTC)


@for_each(
    ("span", "seconds"),
    [
        ("1s", 1),
        ("90s", 90),
        ("15m", 900),
        ("1h30m", 5_400),
        ("1.5h", 5_400),
        ("0.5m", 30),
        ("1h0m5s", 3_605),
        ("2d", 172_800),
        ("1d12h", 129_600),
        ("3000ms", 3),
        ("1s2000ms", 3),
    ],
)
def test_a_duration_is_parsed(span: str, seconds: int) -> None:
    compiled = cron.compile(f"@every {span}", anchor=ANCHOR)

    assert compiled.next(ANCHOR) == ANCHOR + timedelta(seconds=seconds)


def test_the_first_fire_is_one_period_after_the_anchor() -> None:
    compiled = cron.compile("@every 1h", anchor=ANCHOR)

    assert compiled.next(ANCHOR - timedelta(days=9)) == ANCHOR + timedelta(hours=1)
    assert compiled.previous(ANCHOR + timedelta(hours=1)) is None


def test_fires_keep_their_distance_across_a_change_of_the_clock() -> None:
    compiled = cron.compile("@every 12h", "Europe/Berlin", anchor=ANCHOR)
    fires = compiled.between(ANCHOR, ANCHOR + timedelta(days=1), 9)

    assert [fire.isoformat() for fire in fires] == ["2024-10-27T02:00:00+02:00", "2024-10-27T13:00:00+01:00"]


def test_an_anchor_between_two_seconds_counts_from_the_later_one() -> None:
    compiled = cron.compile("@every 10s", anchor=ANCHOR + timedelta(milliseconds=1))

    assert compiled.next(ANCHOR) == ANCHOR + timedelta(seconds=11)


def test_without_an_anchor_periods_are_counted_from_1970() -> None:
    assert cron.compile("@every 7s").next_epoch(15) == 21


@pytest.mark.parametrize("moment", [-100, 0, 9, 10, 11, 20, 1_000_003])
def test_next_and_previous_are_inverse(moment: int) -> None:
    compiled = cron.compile("@every 10s")
    fire = compiled.next_epoch(moment)

    assert fire is not None
    assert fire > moment
    assert (compiled.previous_epoch(fire) or 0) <= max(moment, 0)
    assert compiled.previous_epoch(fire + 1) == fire


@pytest.mark.parametrize(("start", "end"), [(-50, 5), (0, 10), (10, 10), (11, 19), (5, 95), (30, 20)])
def test_the_count_is_the_number_of_fires(start: int, end: int) -> None:
    compiled = cron.compile("@every 10s")

    assert compiled.count_epochs(start, end) == len(compiled.epochs_between(start, end, 1_000))


def test_intervals_end_with_the_year_9999() -> None:
    compiled = cron.compile("@every 100d", "Pacific/Kiritimati")
    last = compiled.previous_epoch(10**15)

    assert last is not None
    assert compiled.zone.moment(last).year == 9999
    assert compiled.next_epoch(last) is None
    assert compiled.count_epochs(last, 10**15) == 1


@pytest.mark.parametrize("zone", ["America/New_York", "UTC", "Asia/Tokyo"])
def test_intervals_begin_with_the_year_1_in_local_time_and_utc(zone: str) -> None:
    beginning = datetime(1, 1, 1, tzinfo=UTC)
    compiled = cron.compile("@every 5s", zone, anchor=beginning)

    first = compiled.next(beginning)

    assert first is not None
    assert first.utctimetuple().tm_year == first.year == 1
    assert compiled.previous(first) is None
    assert compiled.between(beginning, first, 9) == [first]
    epoch = compiled.next_epoch(-(10**15))
    assert epoch is not None
    assert compiled.count_epochs(-(10**15), epoch + 10) == 3


@pytest.mark.proves("R2-26")
@pytest.mark.parametrize("expression", ["@triggered", "@manual", "@reboot", "TZ=Asia/Tokyo @Manual"])
def test_manual_expressions_have_no_times(expression: str) -> None:
    compiled = cron.compile(expression)

    assert compiled.is_manual
    assert compiled.next(ANCHOR) is None
    assert compiled.previous(ANCHOR) is None
    assert compiled.between(ANCHOR, ANCHOR + timedelta(days=1), 9) == []
    assert compiled.count_epochs(0, 10**10) == 0


def test_only_reboot_has_is_reboot() -> None:
    compiled = [cron.compile(text) for text in ("@reboot", "@manual", "@triggered", "@daily", "@every 1s")]

    assert [each.is_reboot for each in compiled] == [True, False, False, False, False]
    assert [each.is_manual for each in compiled] == [True, True, True, False, False]
