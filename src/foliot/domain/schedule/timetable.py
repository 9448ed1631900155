"""The planned moments of a schedule, across all its edits and pauses.

    revisions   |---- 1 ----|-------- 2 --------|------- 3 ---->
    pauses            |--paused--|
    stretches   |--1--|1p|-2p----|-----2--------|----- 3 ------|      each has one rule, and is paused or not

Firing, the preview and `verify` all use it to find which ticks there must be.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from foliot.domain.ids import ScheduleId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.schedule.project_pause import merge_pauses
from foliot.domain.schedule.rule import Listed, Rule
from foliot.domain.schedule.schedule import Pause, Revision, ScheduleSpec, ScheduleType, rule_of


class Stretch(NamedTuple):
    """A part of a timetable: the planned moments of `rule` in [first, last], of one revision, all paused or none."""

    rule: Rule
    revision: Revision
    first: Instant
    last: Instant
    is_paused: bool

    @property
    def spec(self) -> ScheduleSpec:
        return self.revision.spec


class Timetable(NamedTuple):
    """The planned moments of a schedule. Revisions and pauses are in order of time."""

    schedule_id: ScheduleId
    revisions: Sequence[Revision]
    pauses: Sequence[Pause] = ()
    boots: Sequence[Instant] = ()
    """The moments for `@reboot`, in order: boots of hosts. They are known only afterwards."""
    project_pauses: Sequence[Pause] = ()
    """The pauses of all schedules of the project."""

    @property
    def all_pauses(self) -> Sequence[Pause]:
        """Its own pauses and those of the project."""
        return (*self.pauses, *self.project_pauses) if self.project_pauses else self.pauses

    def stretches(self, after: Instant, until: Instant) -> Iterator[Stretch]:
        """Yield the time after `after`, up to and including `until`, cut where the revision or a pause changes.

        If ticks may fire early, the last stretch ends that much later.
        """
        by_revision = self._by_revision(after, until)
        pauses = merge_pauses(self.all_pauses)
        if not pauses:
            return by_revision
        return chain.from_iterable(_cut_at_pauses(pauses, stretch) for stretch in by_revision)

    def _by_revision(self, after: Instant, until: Instant) -> Iterator[Stretch]:
        """Yield one stretch for each revision, without regard to pauses."""
        for index, revision in enumerate(self.revisions):
            spec = revision.spec
            next_opened_at = self.revisions[index + 1].opened_at if index + 1 < len(self.revisions) else LATEST
            first = max(after, revision.opened_at, (spec.start_at or 0) - 1) + 1
            last = min(until + spec.early, next_opened_at, spec.end_at or LATEST)
            if first <= last:
                is_reboot = spec.type is ScheduleType.REBOOT
                rule = Listed(self.boots) if is_reboot else rule_of(spec, self.schedule_id)
                yield Stretch(rule, revision, Instant(first), Instant(last), is_paused=False)

    def next(self, after: Instant) -> Instant | None:
        """Return the first planned moment later than `after`, paused or not, or None."""
        for stretch in self._by_revision(after, LATEST):
            moment = stretch.rule.next(Instant(stretch.first - 1))
            if moment is not None and moment <= stretch.last:
                return moment
        return None

    def following(self, after: Instant, limit: int) -> list[Instant]:
        """Return the next planned moments, paused or not."""
        moments: list[Instant] = []
        for stretch in self._by_revision(after, LATEST):
            moments += stretch.rule.between(stretch.first, stretch.last, limit - len(moments))
            if len(moments) == limit:
                break
        return moments

    def upcoming(self, after: Instant, limit: int) -> list[Instant]:
        """Return the next planned moments that are not paused."""
        moments: list[Instant] = []
        for stretch in self.stretches(after, LATEST):
            if not stretch.is_paused:
                moments += stretch.rule.between(stretch.first, stretch.last, limit - len(moments))
            if len(moments) == limit:
                break
        return moments

    def revision_at(self, moment: Instant) -> Revision:
        """Return the revision that applies to a planned moment."""
        for revision in reversed(self.revisions):
            if revision.opened_at < moment:
                return revision
        return self.revisions[0]

    def is_paused_at(self, moment: Instant) -> bool:
        return any(pause.includes(moment) for pause in self.all_pauses)


def _cut_at_pauses(pauses: Sequence[Pause], stretch: Stretch) -> Iterator[Stretch]:
    rule, revision, first, last, is_paused = stretch
    for pause in pauses:
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
