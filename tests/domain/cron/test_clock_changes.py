"""Fires around clock changes: the five rules, zone by zone.

The dates are in the past, so that no new release of the timezone database changes them. Future changes are compared
with zoneinfo.
"""

from datetime import UTC, datetime, timedelta

import pytest

from foliot import cron
from foliot.domain.cron import Zone
from foliot.domain.cron.zones import Segment
from tests.cases import for_each
from tests.domain.cron import oracle


def fires(expression: str, zone: str, day: str, days: int = 1, dst: cron.Dst = "vixie") -> list[str]:
    """Return the fires of some whole days, in local time."""
    start = datetime.fromisoformat(day).replace(tzinfo=oracle.load_zone(zone))
    found = cron.compile(expression, zone, dst=dst).between(start, start + timedelta(days=days, seconds=-1), 10_000)
    return [fire.isoformat(timespec="minutes") for fire in found]


GAPS = [
    ("Europe/Berlin", "30 2 * * *", "2024-03-31", ["2024-03-31T03:00+02:00"]),
    ("Europe/Berlin", "0 2 * * *", "2024-03-31", ["2024-03-31T03:00+02:00"]),
    ("America/New_York", "30 2 * * *", "2024-03-10", ["2024-03-10T03:00-04:00"]),
    ("Europe/London", "30 1 * * *", "2024-03-31", ["2024-03-31T02:00+01:00"]),
    ("Europe/Dublin", "30 1 * * *", "2024-03-31", ["2024-03-31T02:00+01:00"]),
    ("Australia/Lord_Howe", "15 2 * * *", "2024-10-06", ["2024-10-06T02:30+11:00"]),
    ("Africa/Cairo", "0 0 * * *", "2024-04-26", ["2024-04-26T01:00+03:00"]),
    ("America/Havana", "0 0 * * *", "2024-03-10", ["2024-03-10T01:00-04:00"]),
    ("America/Asuncion", "30 0 * * *", "2023-10-01", ["2023-10-01T01:00-03:00"]),
    ("Asia/Beirut", "0 0 * * SUN", "2024-03-31", ["2024-03-31T01:00+03:00"]),
    ("America/Sao_Paulo", "15 0 4 11 *", "2018-11-04", ["2018-11-04T01:00-02:00"]),
    ("Asia/Tehran", "0 0 * * *", "2022-03-22", ["2022-03-22T01:00+04:30"]),
    ("Africa/Casablanca", "30 2 * * *", "2024-04-14", ["2024-04-14T03:00+01:00"]),
    ("Antarctica/Troll", "30 1 * * *", "2024-03-31", ["2024-03-31T03:00+02:00"]),
    ("America/Nuuk", "30 23 30 3 *", "2024-03-30", ["2024-03-31T00:00-01:00"]),
    ("America/Santiago", "0 0 * * *", "2024-09-08", ["2024-09-08T01:00-03:00"]),
]


@pytest.mark.proves("T13", "R4-03", "R4-28", "R4-36", "R4-70")
@for_each(("zone", "expression", "day", "expected"), GAPS)
def test_a_fixed_time_in_the_gap_fires_once_right_after_it(
    zone: str, expression: str, day: str, expected: list[str]
) -> None:
    # The next day is included, because some gaps end on it.
    assert fires(expression, zone, day, days=2)[:1] == expected


FOLDS = [
    ("Europe/Berlin", "30 2 * * *", "2024-10-27", ["2024-10-27T02:30+02:00"]),
    ("America/New_York", "30 1 * * *", "2024-11-03", ["2024-11-03T01:30-04:00"]),
    ("Europe/London", "30 1 * * *", "2024-10-27", ["2024-10-27T01:30+01:00"]),
    ("Europe/Dublin", "30 1 * * *", "2024-10-27", ["2024-10-27T01:30+01:00"]),
    ("Australia/Lord_Howe", "45 1 * * *", "2024-04-07", ["2024-04-07T01:45+11:00"]),
    ("Africa/Cairo", "30 23 * * *", "2024-10-31", ["2024-10-31T23:30+03:00"]),
    ("America/Havana", "30 0 * * *", "2024-11-03", ["2024-11-03T00:30-04:00"]),
    ("America/Asuncion", "30 23 * * *", "2024-03-23", ["2024-03-23T23:30-03:00"]),
    ("Asia/Beirut", "0 23 * * *", "2024-10-26", ["2024-10-26T23:00+03:00"]),
    ("America/Sao_Paulo", "59 23 * * *", "2019-02-16", ["2019-02-16T23:59-02:00"]),
    ("Asia/Tehran", "30 23 * * *", "2022-09-21", ["2022-09-21T23:30+04:30"]),
    ("Africa/Casablanca", "30 2 * * *", "2024-03-10", ["2024-03-10T02:30+01:00"]),
    ("Antarctica/Troll", "30 1,2 * * *", "2024-10-27", ["2024-10-27T01:30+02:00", "2024-10-27T02:30+02:00"]),
]


@pytest.mark.proves("T13", "R4-03", "R4-28", "R4-36", "R4-70")
@for_each(("zone", "expression", "day", "expected"), FOLDS)
def test_a_fixed_time_in_the_fold_fires_in_the_first_pass_only(
    zone: str, expression: str, day: str, expected: list[str]
) -> None:
    assert fires(expression, zone, day) == expected


@pytest.mark.proves("T13")
@for_each("year", [2037, 2038, 2099, 2100, 2101, 2500, 9998, 9999])
@for_each("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin"])
def test_clock_change_rules_hold_in_years_after_the_table_of_the_zone(zone: str, year: int) -> None:
    start = int(datetime(year, 1, 1, tzinfo=UTC).timestamp())
    changes = [day for day in range(start, start + 360 * 86_400, 86_400) if changes_clock(zone, day)]

    for day in changes:
        expected = oracle.fires("30 1,2 * * *", zone, day - 86_400, day + 86_400)
        assert cron.compile("30 1,2 * * *", zone).epochs_between(day - 86_400, day + 86_400, 99) == expected
    assert len(changes) == 2


def changes_clock(zone: str, epoch: int) -> bool:
    clock = oracle.load_zone(zone)
    return oracle.at(epoch, clock).utcoffset() != oracle.at(epoch + 86_400, clock).utcoffset()


@pytest.mark.proves("T13")
def test_all_times_of_one_gap_become_one_fire() -> None:
    assert fires("0,20,40 2 * * *", "Europe/Berlin", "2024-03-31") == ["2024-03-31T03:00+02:00"]


@pytest.mark.proves("T13")
def test_the_fire_after_a_gap_coincides_with_a_regular_fire() -> None:
    assert fires("0 2,3 * * *", "Europe/Berlin", "2024-03-31") == ["2024-03-31T03:00+02:00"]


@pytest.mark.proves("T13", "R4-45")
def test_the_fire_after_a_gap_is_followed_by_the_next_regular_one_after_any_earlier_calls() -> None:
    compiled = cron.compile("30 2 * * *", "Europe/Berlin")
    gap = 1_711_846_800

    for other in (0, gap - 86_400, gap + 200 * 86_400):
        compiled.next_epoch(other)
        assert compiled.next_epoch(gap) == gap + 84_600


@pytest.mark.proves("T13")
def test_midnight_after_a_fold_that_ends_at_midnight_fires_once() -> None:
    assert fires("0 0 * * *", "America/Sao_Paulo", "2019-02-16", days=2) == [
        "2019-02-16T00:00-02:00",
        "2019-02-17T00:00-03:00",
    ]


@pytest.mark.proves("T13")
@pytest.mark.parametrize(
    ("expression", "day", "expected"),
    [
        ("*/30 1-3 * * *", "2024-03-31", ["01:00+01:00", "01:30+01:00", "03:00+02:00", "03:30+02:00"]),
        ("*/30 2 * * *", "2024-03-31", []),
        ("30 * * * *", "2024-03-31", [f"{hour:02}:30+0{1 + (hour > 2)}:00" for hour in range(24) if hour != 2]),
        ("*/30 2 * * *", "2024-10-27", ["02:00+02:00", "02:30+02:00", "02:00+01:00", "02:30+01:00"]),
        ("*/20 30 2 * * *", "2024-10-27", ["02:30+02:00"] * 3 + ["02:30+01:00"] * 3),
        ("? 2 27 10 ?", "2024-10-27", [f"02:{m:02}+0{o}:00" for o in (2, 1) for m in range(60)]),
    ],
)
def test_a_wildcard_does_not_fire_in_the_gap_and_fires_in_both_passes_of_the_fold(
    expression: str, day: str, expected: list[str]
) -> None:
    assert [fire.partition("T")[2] for fire in fires(expression, "Europe/Berlin", day)] == expected


@pytest.mark.proves("T13")
@pytest.mark.parametrize("day", ["2024-03-31", "2024-10-27"])
def test_quarter_hours_keep_their_distance_across_clock_changes(day: str) -> None:
    start = int(datetime.fromisoformat(day + "T00:00+00:00").timestamp()) - 7_200
    found = cron.compile("*/15 * * * *", "Europe/Berlin").epochs_between(start, start + 86_400, 1_000)

    assert found == list(range(start, start + 86_401, 900))


@pytest.mark.proves("T13")
def test_a_day_that_a_zone_skipped_has_no_fires() -> None:
    assert fires("0 12 * * *", "Pacific/Apia", "2011-12-28", days=3) == [
        "2011-12-28T12:00-10:00",
        "2011-12-29T12:00-10:00",
        "2011-12-31T12:00+14:00",
    ]


@pytest.mark.proves("T13")
def test_readings_skipped_by_a_jump_of_three_hours_do_not_fire() -> None:
    """Casey put its clocks three hours forward on 18 October 2009, and three hours back on 5 March 2010."""
    assert fires("0 3 * * *", "Antarctica/Casey", "2009-10-17", days=3) == [
        "2009-10-17T03:00+08:00",
        "2009-10-19T03:00+11:00",
    ]
    assert fires("0 1 * * *", "Antarctica/Casey", "2010-03-04", days=3) == [
        "2010-03-04T01:00+11:00",
        "2010-03-05T01:00+11:00",
        "2010-03-05T01:00+08:00",
        "2010-03-06T01:00+08:00",
    ]


@pytest.mark.proves("T13")
def test_a_day_that_a_zone_had_twice_fires_twice() -> None:
    found = fires("0 12 * * *", "America/Juneau", "1867-10-18", days=3)

    assert [fire[:13] for fire in found] == ["1867-10-18T12", "1867-10-19T12", "1867-10-19T12", "1867-10-20T12"]


@pytest.mark.parametrize(
    ("dst", "gap", "fold"),
    [
        ("vixie", ["03:00+02:00"], ["02:30+02:00"]),
        ("skip", [], ["02:30+02:00"]),
        ("literal", [], ["02:30+02:00", "02:30+01:00"]),
    ],
)
def test_the_dst_policy_decides_about_fixed_times(dst: cron.Dst, gap: list[str], fold: list[str]) -> None:
    def found(day: str) -> list[str]:
        return [fire[11:] for fire in fires("30 2 * * *", "Europe/Berlin", day, dst=dst)]

    assert (found("2024-03-31"), found("2024-10-27")) == (gap, fold)


@pytest.mark.parametrize("dst", ["vixie", "skip", "literal"])
def test_the_dst_policy_does_not_affect_wildcards(dst: cron.Dst) -> None:
    for day in ("2024-03-31", "2024-10-27"):
        assert fires("*/10 2 * * *", "Europe/Berlin", day, dst=dst) == fires("*/10 2 * * *", "Europe/Berlin", day)


def test_a_time_that_is_always_in_a_gap_has_no_next_fire_when_gaps_are_skipped() -> None:
    compiled = cron.compile("0 2 * 3 SUN#2", "America/New_York", dst="skip")

    assert compiled.next_epoch(1_767_225_600) is None
    assert compiled.previous_epoch(1_767_225_600) is not None


def test_a_fire_before_a_rule_that_always_skips_it_is_found_from_any_later_year() -> None:
    compiled = cron.compile("0 2 * 3 SUN#2", "America/New_York", dst="skip")

    # The clock has been put forward on the second Sunday of March since 2007.
    assert compiled.previous(datetime(9999, 1, 1, tzinfo=UTC)) == datetime(2006, 3, 12, 7, tzinfo=UTC)


@pytest.mark.parametrize(("expression", "dst"), [("0 30 2 9 3 ? {}", "skip"), ("0 ?/30 2 9 3 ? {}", "vixie")])
def test_years_whose_fire_is_not_in_a_gap_are_found_among_the_others(expression: str, dst: cron.Dst) -> None:
    sundays = "2110,2121,2127"
    start = datetime(2105, 1, 1, tzinfo=UTC)

    spared = cron.compile(expression.format(f"{sundays},2128"), "America/New_York", dst=dst).next(start)
    never = cron.compile(expression.format(sundays), "America/New_York", dst=dst).next(start)

    assert spared is not None
    assert (spared.date().isoformat(), never) == ("2128-03-09", None)


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/New_York"])
@pytest.mark.parametrize(("expression", "day"), [("0 0 0 1 1 ? 2110", 1), ("59 59 23 31 12 ? 2110,9999", 365)])
def test_new_year_of_a_distant_year_is_found_east_and_west_of_greenwich(zone: str, expression: str, day: int) -> None:
    compiled = cron.compile(expression, zone)

    found = compiled.next(datetime(2105, 1, 1, tzinfo=UTC))

    assert found is not None
    assert (found.year, found.timetuple().tm_yday) == (2110, day)
    assert compiled.previous(found + timedelta(seconds=1)) == found


@pytest.mark.proves("Z41")
@pytest.mark.parametrize("expression", ["0 2 * 3 SUN#2", "0 0 2 * 3 SUN#2 2007-9999", "0 */7 2 ? 3 SUN#2 2007-9999"])
def test_a_time_that_is_always_in_a_gap_is_not_searched_in_every_year(
    expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []
    segment = Zone.segment

    def counted(zone: Zone, moment: int) -> Segment:
        searched.append(moment)
        return segment(zone, moment)

    monkeypatch.setattr(Zone, "segment", counted)
    compiled = cron.compile(expression, "America/New_York", dst="skip")

    assert compiled.next_epoch(2_000_000_000) is None
    assert compiled.previous_epoch(253_000_000_000) in {None, 1_142_146_800}
    assert len(searched) < 1_000
