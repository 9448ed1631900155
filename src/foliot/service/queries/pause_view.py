"""The view of a pause of all schedules."""

from datetime import datetime

import msgspec

from foliot.domain.instant import Instant, to_datetime
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.service.queries.documents import moment


class PauseView(msgspec.Struct, frozen=True, kw_only=True):
    """All schedules are paused, those that are created meanwhile too."""

    since: datetime
    until: datetime | None
    """Ticks fire again from this time on. None: when the schedules are resumed."""
    by: str
    note: str


def view_pause(pause: ProjectPause) -> PauseView:
    return PauseView(since=to_datetime(pause.since), until=moment(pause.ends_at), by=pause.by, note=pause.note)


def current_pause(pause: ProjectPause | None, now: Instant) -> PauseView | None:
    """Return the view of a pause if it is in force."""
    return None if pause is None or not pause.is_in_force(now) else view_pause(pause)
