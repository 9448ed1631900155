"""Pauses and resumes all schedules of the project with one row (`domain.schedule.project_pause`)."""

from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.event_items import about_pause
from foliot.adapters.storage.shared.project_pauses import ProjectPauses, begun, ended, project_pauses_of, row_of
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.domain.events import EventKind
from foliot.domain.instant import Instant
from foliot.domain.schedule.project_pause import PauseOrder, ProjectPause, Watermarks
from foliot.ports.topic import Topic


class PauseDefinitions(PortBase):
    async def pause_project(self, order: PauseOrder, *, at: Instant | None = None) -> ProjectPause:
        def work(tx: Transaction) -> ProjectPause:
            now = tx.now(at)
            stored = read_pauses(tx, self._project, now)
            pause = begun(stored, order, now, _later(tx, self._project, now))
            _save(tx, self._project, pause, now, EventKind.PROJECT_PAUSED)
            return pause

        return await self._writer.submit("pause_project", work)

    async def resume_project(self, *, at: Instant | None = None) -> ProjectPause | None:
        def work(tx: Transaction) -> ProjectPause | None:
            now = tx.now(at)
            pause = ended(read_pauses(tx, self._project, now), now, _later(tx, self._project, now))
            if pause is not None:
                _save(tx, self._project, pause, now, EventKind.PROJECT_RESUMED)
            return pause

        return await self._writer.submit("pause_project", work)


def read_pauses(session: Session, project: str, after: Instant) -> ProjectPauses:
    """Return the pauses that end after a moment, and the version of the last change."""
    return project_pauses_of(session.rows(SQL["project_pauses"], (project, after - 1)))


def _later(tx: Transaction, project: str, now: Instant) -> Watermarks:
    return dict(tx.rows(SQL["later_watermarks"], (project, now)))


def _save(tx: Transaction, project: str, pause: ProjectPause, now: Instant, kind: EventKind) -> None:
    tx.run(SQL["save_project_pause"], row_of(project, pause))
    tx.add_event(now, kind, about_pause(pause))
    tx.record(now, changes.paused_project(project, pause, is_paused=kind is EventKind.PROJECT_PAUSED))
    tx.ring(Topic.SCHEDULES)
