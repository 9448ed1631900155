"""Pauses of all schedules: rows to values and back, and how a command changes them."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.json import Decoder

from foliot.adapters.storage.shared.documents import encode, read_column
from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.row_types import Count, Moment, instant_of, read_row
from foliot.adapters.storage.shared.rows import Row
from foliot.domain.ids import ScheduleUid
from foliot.domain.instant import LATEST, Instant
from foliot.domain.schedule import project_pause
from foliot.domain.schedule.project_pause import PauseOrder, ProjectPause, Watermarks

_WATERMARKS: Final = Decoder(dict[str, Moment])


class ProjectPauseRow(Struct, array_like=True, frozen=True, gc=False):
    since: Moment
    until: Moment | None
    version: Count
    paused_by: str
    note: str
    decided: Any
    recorded: Any


class ProjectPauses(NamedTuple):
    """The pauses that a decision depends on."""

    pauses: Sequence[ProjectPause]
    version: int
    """Of the last change; 0 if there was none."""


def project_pauses_of(rows: Iterable[Row]) -> ProjectPauses:
    """Decode rows of `project_pauses`, which include the one with the highest version."""
    pauses = [_pause_of(row) for row in rows]
    return ProjectPauses(pauses, max((one.version for one in pauses), default=0))


def _pause_of(row: Row) -> ProjectPause:
    known = read_row(ProjectPauseRow, row, "project pause", row[0])
    return ProjectPause(
        since=Instant(known.since),
        until=instant_of(known.until),
        version=known.version,
        by=known.paused_by,
        note=known.note,
        decided=_watermarks(known.decided, known.since),
        recorded=_watermarks(known.recorded, known.since),
    )


def _watermarks(document: str, since: int) -> Watermarks:
    found = read_column(_WATERMARKS.decode, document, "project pause", since)
    return {ScheduleUid(uid): Instant(moment) for uid, moment in found.items()}


def last_project_pause(project: str) -> Read[ProjectPause | None]:
    """Return the pause that was changed last."""
    found = project_pauses_of((yield Query("project_pauses", (project, LATEST))))
    return next((one for one in found.pauses if one.version == found.version), None)


def row_of(project: str, pause: ProjectPause) -> tuple[object, ...]:
    documents = encode(pause.decided), encode(pause.recorded)
    return (project, pause.since, pause.until, pause.version, pause.by, pause.note, *documents)


def begun(stored: ProjectPauses, order: PauseOrder, now: Instant, later: Watermarks) -> ProjectPause:
    """Return the pause that an order begins or changes."""
    current = project_pause.in_force(stored.pauses, now)
    version = stored.version + 1
    if current is not None:
        return project_pause.change(current, now, order, version, later)
    return project_pause.begin(now, order, version, later)


def ended(stored: ProjectPauses, now: Instant, later: Watermarks) -> ProjectPause | None:
    """Return the pause that is in force, ended now; None if there is none."""
    current = project_pause.in_force(stored.pauses, now)
    return None if current is None else project_pause.end(current, now, stored.version + 1, later)
