"""The yearly rule of a zone, in the format of POSIX."""

from datetime import UTC, datetime

import pytest

from foliot.domain.cron import posixtz
from tests.cases import for_each


def changes(rule: str, year: int) -> list[str]:
    return [
        f"{datetime.fromtimestamp(moment, UTC):%m-%d %H:%M} {offset // 60}"
        for moment, offset in posixtz.read(rule).changes(year, year)
    ]


@pytest.mark.proves("T13")
@for_each(
    ("rule", "year", "expected"),
    [
        ("CET-1CEST,M3.5.0,M10.5.0/3", 2024, ["03-31 01:00 120", "10-27 01:00 60"]),
        ("EST5EDT,M3.2.0,M11.1.0", 2024, ["03-10 07:00 -240", "11-03 06:00 -300"]),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", 2024, ["03-31 01:00 60", "10-27 01:00 0"]),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 2024, ["04-06 15:00 630", "10-05 15:30 660"]),
        ("<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", 2024, ["03-31 01:00 120", "10-27 01:00 0"]),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2024, ["03-31 01:00 -60", "10-27 01:00 -120"]),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", 2024, ["03-30 00:00 180", "10-25 23:00 120"]),
        ("<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45", 2024, ["04-06 14:00 765", "09-28 14:00 825"]),
        ("AAA0BBB,J60/0,J365/0", 2024, ["03-01 00:00 60", "12-30 23:00 0"]),
        ("AAA0BBB,J59/0,J60/0", 2023, ["02-28 00:00 60", "02-28 23:00 0"]),
        ("AAA0BBB,59/0,365/0", 2024, ["02-29 00:00 60", "12-30 23:00 0"]),
        ("AAA0BBB,M12.5.0/0,M2.5.4/0", 2024, ["02-28 23:00 0", "12-29 00:00 60"]),
    ],
)
def test_a_posix_rule_yields_its_clock_changes(rule: str, year: int, expected: list[str]) -> None:
    assert changes(rule, year) == expected


def test_a_posix_rule_without_summer_time_has_no_changes() -> None:
    assert posixtz.read("<+0545>-5:45:30") == posixtz.YearlyRule(20_730, ())


@pytest.mark.parametrize("rule", ["", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,X,Y", "UTC0 "])
def test_an_invalid_posix_rule_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match="is not a rule for a zone"):
        posixtz.read(rule)
