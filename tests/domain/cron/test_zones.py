"""Timezones: their names and their clock changes."""

import io
import pickle
import zoneinfo
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from itertools import pairwise
from pkgutil import get_data

import pytest

from foliot import cron
from foliot.domain.cron import known_zones, posixtz, tzif, zones
from tests.cases import for_each
from tests.domain.cron import oracle


@pytest.mark.proves("R4-58", "Z41")
@for_each(
    "name",
    [
        *("", " ", "../../etc/passwd", "Europe/../UTC", "/etc/localtime", "Europe/Berlin/", "Europe//Berlin", "."),
        *("Europe/Berlin\n", "Europe/Berlin\x00", "UTC ", "Éire", "localtime", "posix/UTC", "right/UTC", "zone.tab"),
        *("__init__.py", "tzdata.zi", "Europe", "europe/berlin", "CEST", "local", "A" * 65, "A/" * 5_000, "${TZ}"),
    ],
)
def test_a_zone_that_is_not_on_the_list_is_refused(name: str) -> None:
    with pytest.raises(cron.InvalidTimezone) as caught:
        cron.zone(name)

    assert caught.value.hint
    assert len(caught.value.message) < 400


def test_a_near_match_is_offered() -> None:
    with pytest.raises(cron.InvalidTimezone, match='Did you mean "America/New_York"'):
        cron.compile("* * * * *", "America/NewYork")


def test_the_same_name_gives_the_same_object() -> None:
    assert cron.zone("Asia/Tokyo") is cron.zone("Asia/Tokyo")


def test_the_version_is_that_of_the_installed_package() -> None:
    year, release = cron.tzdata_version()[:-1], cron.tzdata_version()[-1]

    assert version("tzdata").startswith(f"{year}.{ord(release) - ord('a') + 1}")


def test_every_zone_agrees_with_zoneinfo_at_all_its_changes() -> None:
    for name in sorted(known_zones()):
        zone, clock = cron.zone(name), oracle.load_zone(name)
        for moment in changes_of(name):
            for near in (moment - 1, moment):
                assert oracle.at(near, clock).utcoffset() == offset(zone, near), (name, near)


def changes_of(name: str) -> list[int]:
    data = get_data("tzdata", f"zoneinfo/{name}")
    assert data is not None
    file = tzif.read(data)
    later = posixtz.read(file.rule).changes(2090, 2110)
    return [moment for moment, _ in (*file.changes, *later)]


def offset(zone: zones.Zone, moment: int) -> timedelta:
    segment = zone.segment(moment)
    assert segment.start <= moment < segment.end
    return timedelta(seconds=segment.offset)


def test_no_zone_changes_its_clock_twice_within_three_hours() -> None:
    for name in known_zones():
        moments = changes_of(name)
        real = [moment for moment in moments if cron.zone(name).segment(moment).start == moment]
        assert all(later - earlier > 2 * zones.DST_BELOW for earlier, later in pairwise(real))


def test_fires_have_the_shared_zoneinfo_object() -> None:
    fire = cron.compile("30 2 27 10 *", "Europe/Berlin").next(datetime(2024, 10, 1, tzinfo=UTC))

    assert fire == datetime(2024, 10, 27, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    assert pickle.loads(pickle.dumps(fire)) == fire


def test_a_fire_has_the_right_local_time_if_the_data_of_the_system_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    zone = zones.Zone("Europe/Berlin", package_file("zoneinfo/Europe/Berlin"))
    monkeypatch.setattr(zone, "info", zoneinfo.ZoneInfo.from_file(io.BytesIO(package_file("zoneinfo/Asia/Tokyo"))))

    assert zone.moment(0).isoformat() == "1970-01-01T01:00:00+01:00"


def package_file(path: str) -> bytes:
    data = get_data("tzdata", path)
    assert data is not None
    return data


@pytest.mark.parametrize("data", [b"no zone at all".ljust(44), b"TZif\x00".ljust(44, b"\x00")])
def test_a_file_that_is_not_a_tzif_file_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a TZif file"):
        tzif.read(data)


def test_no_yearly_rule_changes_the_clock_around_new_year() -> None:
    # WallClock relies on it: the fires of a year depend on the kind of that year alone.
    for name in sorted(known_zones()):
        data = get_data("tzdata", f"zoneinfo/{name}")
        assert data is not None
        for moment, _ in posixtz.read(tzif.read(data).rule).changes(2101, 2130):
            assert 3 < datetime.fromtimestamp(moment, UTC).timetuple().tm_yday < 362, name
