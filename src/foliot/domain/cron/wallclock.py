"""Expressions that fire by local time, and their fires around clock changes.

1. A moment is a regular fire if its reading matches.
2. A wildcard expression has exactly the regular fires: none for the readings of a gap, both passes of a fold.
3. A fixed expression, clock put forward by less than 3 h: the skipped readings become one fire, right after the gap.
4. A fixed expression, clock put back by less than 3 h: only the first pass.
5. Changes of 3 h or more have no special treatment.

Between two clock changes, in a `Segment`, readings and moments differ by a constant. That is the fast path, which is
used nearly always. The slow path goes from segment to segment.
"""

from bisect import bisect_right

from foliot.domain.cron.compiled import Cron
from foliot.domain.cron.describe import describe
from foliot.domain.cron.pattern import DAY, Pattern
from foliot.domain.cron.times import HOUR
from foliot.domain.cron.years import year
from foliot.domain.cron.zones import DST_BELOW, Segment, Zone


class WallClock(Cron):
    __slots__ = ("_catches_up", "_fires_by_rule", "_fires_often", "_first_pass_only", "_hour", "pattern")

    _hour: tuple[int, int, tuple[int, ...]]
    """The hour of an earlier call: its start, its last fire, and all its fires as seconds of the hour. An expression
    that fires often is called many times for the same hour."""

    def __init__(
        self,
        expression: str,
        zone: Zone,
        pattern: Pattern,
        *,
        catches_up: bool,
        first_pass_only: bool,
        warnings: tuple[str, ...],
    ) -> None:
        super().__init__(expression, zone, warnings)
        self.pattern = pattern
        self._catches_up = catches_up
        self._first_pass_only = first_pass_only
        self._fires_often = len(pattern.times.in_hour) > 1
        self._hour = (0, 0, ())
        self._fires_by_rule: bool | None = None

    def next_epoch(self, after: int) -> int | None:
        begin, last, seconds = self._hour
        if begin <= after < last:
            return begin + seconds[bisect_right(seconds, after - begin)]
        _, end, offset, settled, _, _ = self.zone.current
        if settled <= after < end:
            reading = self.pattern.first(after + offset + 1)
            if reading - offset < end:
                if self._fires_often:
                    self._cache_hour(reading - offset, reading % HOUR, settled, end)
                return reading - offset
            if after + offset < end - DAY:
                # The readings up to the match have been searched, whatever the offset after the change is.
                return self._first_from(max(end, reading - DAY))
        return self._first_from(after + 1)

    def _cache_hour(self, fire: int, second: int, settled: int, end: int) -> None:
        """Cache the hour of this fire, if there is no clock change in it."""
        begin, seconds = fire - second, self.pattern.times.in_hour
        if settled <= begin and begin + HOUR <= end:
            self._hour = (begin, begin + seconds[-1], seconds)

    def _first_from(self, moment: int) -> int | None:
        zone = self.zone
        fire = self._first_between(max(moment, zone.first), zone.regular_from)
        if fire is None and self._fires_forever():
            fire = self._first_between(max(moment, zone.regular_from), zone.last)
        return fire

    def _first_between(self, moment: int, last: int) -> int | None:
        """Return the first fire of the segments that contain `moment` or begin after it, up to `last`."""
        while moment <= last:
            segment = self.zone.segment(moment)
            fire = self._first_in(segment, moment)
            if fire is not None:
                return fire
            # Offsets are less than a day: no fire is earlier than one day before the next matching reading.
            moment = max(segment.end, self.pattern.first(segment.end - DAY) - DAY)
        return None

    def _fires_forever(self) -> bool:
        """Return whether it ever fires where only the yearly rule of the zone applies. This avoids a search of
        thousands of years.

        There, all years of one kind are alike, since no rule changes the clock around New Year: if the matches of one
        year are in a gap, those of all years of its kind are.
        """
        if self._fires_by_rule is None:
            days, zone = self.pattern.days, self.zone
            self._fires_by_rule = not zone.changes_yearly or any(
                self._fires_in(number) for number in days.one_year_of_each_kind(zone.regular_from // DAY)
            )
        return self._fires_by_rule

    def _fires_in(self, number: int) -> bool:
        # East of Greenwich the year begins on the last day of the old year in UTC.
        begin, end = year(number).start * DAY - DAY, year(number + 1).start * DAY
        return self._first_between(begin, min(end, self.zone.last)) is not None

    def _first_in(self, segment: Segment, moment: int) -> int | None:
        if moment == segment.start and self._fires_after_gap(segment):
            return moment
        begin = max(moment, self._begin(segment))
        fire = self.pattern.first(begin + segment.offset) - segment.offset
        return fire if fire < segment.end else None

    def previous_epoch(self, before: int) -> int | None:
        zone = self.zone
        moment = min(before - 1, zone.last)
        if moment > zone.regular_from and not self._fires_forever():
            moment = zone.regular_from
        while moment >= zone.first:
            segment = zone.segment(moment)
            fire = self._last_in(segment, moment)
            if fire is not None:
                return fire
            moment = min(segment.start - 1, self.pattern.last(segment.start + DAY) + DAY)
        return None

    def _last_in(self, segment: Segment, moment: int) -> int | None:
        fire = self.pattern.last(moment + segment.offset) - segment.offset
        if fire >= self._begin(segment):
            return fire
        return segment.start if self._fires_after_gap(segment) else None

    def count_epochs(self, start: int, end: int) -> int:
        total = 0
        moment, end = max(start, self.zone.first), min(end, self.zone.last)
        while moment <= end:
            segment = self.zone.segment(moment)
            total += self._count_in(segment, moment, min(end + 1, segment.end))
            moment = segment.end
        return total

    def _count_in(self, segment: Segment, moment: int, end: int) -> int:
        begin = max(moment, self._begin(segment))
        regular = self.pattern.count(begin + segment.offset, end + segment.offset)
        if moment > segment.start or not self._fires_after_gap(segment):
            return regular
        reading = segment.start + segment.offset
        return regular + (self.pattern.first(reading) != reading)

    def _begin(self, segment: Segment) -> int:
        """Return where the fires of a segment begin: after the second pass of a fold, if only the first counts."""
        return segment.settled if self._first_pass_only else segment.start

    def _fires_after_gap(self, segment: Segment) -> bool:
        if not self._catches_up or not 0 < segment.jump < DST_BELOW:
            return False
        reading = segment.start + segment.offset
        return self.pattern.first(reading - segment.jump) < reading

    def describe(self) -> str:
        return describe(self.pattern, self.timezone, self.expression)
