"""Which moments a schedule has planned, through all its edits and pauses.

    revisions   |---- 1 ----|-------- 2 --------|------- 3 ---->
    pauses            |--paused--|
    stretches   |--1--|1p|-2p----|-----2--------|----- 3 ------|      one rule and one answer each

Everybody who asks "which ticks must there be?" asks here: firing, the preview, `verify`.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from foliot.domain.ids import ScheduleId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.schedule.rule import Rule
from foliot.domain.schedule.schedule import Pause, Revision, ScheduleSpec, rule_of


class Stretch(NamedTuple):
    """The planned moments of `rule` in [first, last] have one revision and are all paused or all not."""

    rule: Rule
    revision: Revision
    first: Instant
    last: Instant
    is_paused: bool

    @property
    def spec(self) -> ScheduleSpec:
        return self.revision.spec


class Timetable(NamedTuple):
    """A schedule's planned moments. Revisions and pauses are in order."""

    schedule_id: ScheduleId
    revisions: Sequence[Revision]
    pauses: Sequence[Pause] = ()

    def stretches(self, after: Instant, until: Instant) -> Iterator[Stretch]:
        """Cut the time after `after`, up to and with `until`, where revision or pause change.

        A schedule that may fire early looks that much further ahead.
        """
        reigns = self._reigns(after, until)
        return chain.from_iterable(self._cut_at_pauses(*reign) for reign in reigns) if self.pauses else reigns

    def _reigns(self, after: Instant, until: Instant) -> Iterator[Stretch]:
        """What each revision rules of that time, pauses left aside."""
        for index, revision in enumerate(self.revisions):
            spec = revision.spec
            follower = self.revisions[index + 1].opened_at if index + 1 < len(self.revisions) else LATEST
            first = max(after, revision.opened_at, (spec.start_at or 0) - 1) + 1
            last = min(until + spec.early, follower, spec.end_at or LATEST)
            if first <= last:
                rule = rule_of(spec, self.schedule_id)
                yield Stretch(rule, revision, Instant(first), Instant(last), is_paused=False)

    def next(self, after: Instant) -> Instant | None:
        """The first planned moment later than `after`, paused or not."""
        for stretch in self._reigns(after, LATEST):
            moment = stretch.rule.next(Instant(stretch.first - 1))
            if moment is not None and moment <= stretch.last:
                return moment
        return None

    def following(self, after: Instant, limit: int) -> list[Instant]:
        """The next planned moments, paused or not."""
        moments: list[Instant] = []
        for stretch in self._reigns(after, LATEST):
            moments += stretch.rule.between(stretch.first, stretch.last, limit - len(moments))
            if len(moments) == limit:
                break
        return moments

    def upcoming(self, after: Instant, limit: int) -> list[Instant]:
        """The next planned moments that are not paused."""
        moments: list[Instant] = []
        for stretch in self.stretches(after, LATEST):
            if not stretch.is_paused:
                moments += stretch.rule.between(stretch.first, stretch.last, limit - len(moments))
            if len(moments) == limit:
                break
        return moments

    def revision_at(self, moment: Instant) -> Revision:
        """The revision that rules a planned moment."""
        for revision in reversed(self.revisions):
            if revision.opened_at < moment:
                return revision
        return self.revisions[0]

    def is_paused_at(self, moment: Instant) -> bool:
        return any(pause.since < moment <= (pause.until or LATEST) for pause in self.pauses)

    def _cut_at_pauses(
        self, rule: Rule, revision: Revision, first: Instant, last: Instant, is_paused: bool
    ) -> Iterator[Stretch]:
        for pause in self.pauses:
            if pause.since >= first:
                end = min(pause.since, last)
                yield Stretch(rule, revision, first, end, is_paused)
                first = Instant(end + 1)
            end = min(pause.until or LATEST, last)
            if first <= end:
                yield Stretch(rule, revision, first, end, is_paused=True)
                first = Instant(end + 1)
            if first > last:
                return
        yield Stretch(rule, revision, first, last, is_paused)
