"""Timezones: their names and their clock changes.

All zones are read from the Python package tzdata only, so that every node of a cluster computes the same moments and
`tzdata_version` is correct; the data of the operating system may be years older. These package files are the only files
that the domain reads: they are constants.
"""

import re
from bisect import bisect_right
from datetime import datetime, timedelta
from functools import cache
from io import BytesIO
from pkgutil import get_data, resolve_name
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from foliot.domain.cron import posixtz, tzif
from foliot.domain.cron.moments import EPOCH
from foliot.errors import InvalidTimezone

DST_BELOW: Final = 3 * 3_600
"""Clock changes of this size or more are a change of the zone, not summer time: skipped readings do not fire."""

_EARLIEST: Final = -62_135_596_800
_LATEST: Final = 253_402_300_799
_TABLE_UNTIL: Final = 2_100
_PLAUSIBLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
_LONGEST_NAME: Final = 64


class Segment(NamedTuple):
    """A period with one offset: from `start` to `end`, which is not included."""

    start: int
    end: int
    offset: int
    settled: int
    """From here on readings are not repeated. Later than `start` if the clock was put back by less than DST_BELOW."""
    jump: int
    """By how much the clock was put forward at `start`; below 0 if it was put back."""
    shift: timedelta
    """The offset as a timedelta."""


_NO_SEGMENT: Final = Segment(0, 0, 0, 0, 0, timedelta())


class Zone:
    """A timezone as a table of moments and offsets. There is one object for each name (see `zone`)."""

    __slots__ = (
        "_offsets",
        "_rule",
        "_starts",
        "current",
        "first",
        "info",
        "last",
        "name",
        "regular_from",
        "shown",
    )

    current: Segment
    """The segment of the last call, which the next call very probably needs too."""
    shown: tuple[datetime, int]
    """The last returned moment, which the next call very probably passes, and its epoch second."""
    first: int
    last: int
    """The first and last moments at which local time and UTC are both in the years 1 to 9999."""
    regular_from: int
    """From here on only the yearly rule applies."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.info = ZoneInfo(name)
        self._starts, self._offsets, self._rule = _table(data)
        self.first = self._starts[0]
        self.regular_from = self._starts[-1]
        last_offset = self._rule.changes(9_999, 9_999)[-1][1] if self._rule.switches else self._offsets[-1]
        self.last = _LATEST - max(last_offset, 0)
        self.current = _NO_SEGMENT
        self.shown = (EPOCH, 0)

    @property
    def changes_yearly(self) -> bool:
        """Whether its last rule changes the clock every year."""
        return bool(self._rule.switches)

    def segment(self, moment: int) -> Segment:
        """Return the segment of a moment between `first` and `last`."""
        current = self.current
        if current.start <= moment < current.end:
            return current
        place = bisect_right(self._starts, moment) - 1
        beyond = place == len(self._starts) - 1 and bool(self._rule.switches)
        self.current = found = self._by_rule(moment) if beyond else self._in_table(place)
        return found

    def _in_table(self, place: int) -> Segment:
        start, offset = self._starts[place], self._offsets[place]
        end = self._starts[place + 1] if place + 1 < len(self._starts) else self.last + 1
        return _segment(start, end, self._offsets[max(place - 1, 0)], offset)

    def _by_rule(self, moment: int) -> Segment:
        year = (EPOCH + timedelta(seconds=moment)).year
        changes = self._rule.changes(year - 1, year + 1)
        place = bisect_right(changes, moment, key=lambda change: change[0])
        (start, offset), (end, _) = changes[place - 1], changes[place]
        return _segment(start, min(end, self.last + 1), changes[place - 2][1], offset)

    def moment(self, epoch: int) -> datetime:
        """Return an epoch second as a datetime in the zone.

        The tzinfo is the shared ZoneInfo(name), because datetimes with different tzinfo objects are never equal inside
        a repeated hour. If its data is older and gives another time, a ZoneInfo of the package is used instead.
        """
        segment = self.current
        if not segment.start <= epoch < segment.end:
            segment = self.segment(epoch)
        reading = datetime.fromtimestamp(epoch, self.info)
        if reading.utcoffset() != segment.shift:
            reading = datetime.fromtimestamp(epoch, _packaged_info(self.name))
        self.shown = (reading, epoch)
        return reading

    def __repr__(self) -> str:
        return f"Zone({self.name!r})"


@cache
def zone(name: str) -> Zone:
    """Return the time zone with an IANA name. Raise InvalidTimezone if it does not exist."""
    if len(name) > _LONGEST_NAME or not _PLAUSIBLE.fullmatch(name):
        raise InvalidTimezone(name, ())
    if name not in known_zones():
        raise InvalidTimezone(name, known_zones())
    return Zone(name, _package_file(f"zoneinfo/{name}"))


@cache
def known_zones() -> frozenset[str]:
    return frozenset(_package_file("zones").decode("ascii").split())


@cache
def tzdata_version() -> str:
    """Return the release of the IANA database that all zones are read from, such as "2025b"."""
    return str(resolve_name("tzdata:IANA_VERSION"))


def _package_file(path: str) -> bytes:
    data = get_data("tzdata", path)
    assert data is not None
    return data


def _table(data: bytes) -> tuple[list[int], list[int], posixtz.YearlyRule]:
    """Return the moments from which each offset applies, the offsets, and the rule after the last of them."""
    first_offset, changes, rule_text = tzif.read(data)
    rule = posixtz.read(rule_text)
    last = changes[-1][0] if changes else _EARLIEST
    year = (EPOCH + timedelta(seconds=max(last, _EARLIEST))).year
    by_rule = (change for change in rule.changes(year, _TABLE_UNTIL) if change[0] > last)
    starts, offsets = [_EARLIEST - min(first_offset, 0)], [first_offset]
    for moment, offset in (*changes, *by_rule):
        if offset != offsets[-1]:
            starts.append(moment)
            offsets.append(offset)
    return starts, offsets, rule


def _segment(start: int, end: int, old_offset: int, offset: int) -> Segment:
    jump = offset - old_offset
    settled = start - jump if -DST_BELOW < jump < 0 else start
    return Segment(start, end, offset, settled, jump, timedelta(seconds=offset))


@cache
def _packaged_info(name: str) -> ZoneInfo:
    return ZoneInfo.from_file(BytesIO(_package_file(f"zoneinfo/{name}")), key=name)
