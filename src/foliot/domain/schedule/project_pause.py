"""A pause of all schedules of a project: one record, which every schedule has as one more pause.

While it is in force no schedule is due, so that the ticks in it become one range when it has ended. Schedules that are
created meanwhile are paused too. Runs that are started by hand are not affected.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from foliot.domain.ids import ScheduleUid
from foliot.domain.instant import LATEST, Instant, to_iso
from foliot.domain.schedule.schedule import Pause
from foliot.errors import InvalidInput

MAX_NOTE: Final = 500
MAX_AUTHOR: Final = 200


class PauseOrder(NamedTuple):
    """Pause all schedules until `ends_at`, or until they are resumed."""

    ends_at: Instant | None = None
    by: str = ""
    note: str = ""


class ProjectPause(Struct, frozen=True, kw_only=True):
    """Moments after `since`, up to and including `until`, do not fire. None: until it is resumed."""

    since: Instant
    until: Instant | None
    version: int
    """Increases with each change of any pause of the project. A decision about schedules that was made from another
    version is not saved."""
    by: str = ""
    note: str = ""
    decided: Mapping[ScheduleUid, Instant] = field(default_factory=dict)
    """The watermarks that were later than `since` when the pause began, or than its former end when it was prolonged.
    Ticks fire early with jitter, and the clock may have been set back."""
    recorded: Mapping[ScheduleUid, Instant] = field(default_factory=dict)
    """The watermarks that were later than the new end when the pause was shortened."""

    @property
    def ends_at(self) -> Instant | None:
        """The first moment that is not paused."""
        return None if self.until is None else Instant(self.until + 1)

    def is_in_force(self, now: Instant) -> bool:
        """Return whether schedules wait. At the last paused moment they are due, to record the ticks up to it."""
        return self.until is None or self.since <= now < self.until

    def includes(self, moment: Instant) -> bool:
        return self.since < moment <= (self.until or LATEST)

    def pause_of(self, uid: ScheduleUid) -> Pause:
        """Return it as a pause of one schedule."""
        return Pause(self.since, self.until, self.decided.get(uid), self.recorded.get(uid))


Watermarks = Mapping[ScheduleUid, Instant]
"""The watermarks of schedules that are later than now."""


def begin(now: Instant, order: PauseOrder, version: int, later: Watermarks) -> ProjectPause:
    """Return a pause that begins now and ends before `ends_at`, so that a tick at that moment fires."""
    until = _last(order.ends_at, now)
    return ProjectPause(since=now, until=until, version=version, by=order.by, note=order.note, decided=later)


def change(pause: ProjectPause, now: Instant, order: PauseOrder, version: int, later: Watermarks) -> ProjectPause:
    """Return a pause in force with another end and note. It keeps its beginning."""
    decided = {uid: moment for uid, moment in later.items() if moment > (pause.until or LATEST)}
    return replace(
        pause,
        until=_last(order.ends_at, max(now, pause.since)),
        version=version,
        by=order.by,
        note=order.note,
        decided={**pause.decided, **decided},
        recorded={**pause.recorded, **later},
    )


def end(pause: ProjectPause, now: Instant, version: int, later: Watermarks) -> ProjectPause:
    """Return a pause that ends now. If the clock was set back, it does not end before it began."""
    return replace(pause, until=max(now, pause.since), version=version, recorded={**pause.recorded, **later})


def _last(ends_at: Instant | None, earliest: Instant) -> Instant | None:
    return None if ends_at is None else Instant(max(ends_at - 1, earliest))


def in_force(pauses: Iterable[ProjectPause], now: Instant) -> ProjectPause | None:
    """Return the pause that is in force, the newest one if the clock was set back into several."""
    return max((one for one in pauses if one.is_in_force(now)), key=attrgetter("version"), default=None)


def check_pause(order: PauseOrder, now: Instant) -> None:
    """Raise InvalidInput if a pause cannot be stored."""
    ends_at, by, note = order
    if ends_at is not None and not now < ends_at <= LATEST:
        raise InvalidInput(
            f"until {to_iso(ends_at)} has passed", hint="Give a later time, or leave it out.", field="until"
        )
    for name, text, most in (("note", note, MAX_NOTE), ("by", by, MAX_AUTHOR)):
        if len(text) > most or not text.isprintable():
            raise InvalidInput(
                f"{name} must be one line of printable text with at most {most} characters",
                hint="Shorten it, and leave out line breaks.",
                field=name,
            )


def merge_pauses(pauses: Iterable[Pause]) -> Sequence[Pause]:
    """Return pauses in order of time, with overlapping ones joined, so that their ticks are one range."""
    merged: list[Pause] = []
    for pause in sorted(pauses, key=itemgetter(0)):
        last = merged[-1] if merged else None
        if pause.until == pause.since:
            continue
        if last is None or (last.until is not None and last.until < pause.since):
            merged.append(Pause(pause.since, pause.until))
        elif last.until is not None and (pause.until is None or pause.until > last.until):
            merged[-1] = Pause(last.since, pause.until)
    return merged
