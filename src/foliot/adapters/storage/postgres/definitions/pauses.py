"""Pauses and resumes all schedules of the project with one row (`domain.schedule.project_pause`)."""

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.event_items import about_pause
from foliot.adapters.storage.shared.project_pauses import ProjectPauses, begun, ended, project_pauses_of, row_of
from foliot.domain.events import EventKind
from foliot.domain.instant import Instant
from foliot.domain.schedule.project_pause import PauseOrder, ProjectPause, Watermarks
from foliot.ports.topic import Topic


class PauseDefinitions:
    """The calls about pauses of all schedules, see `PostgresDefinitions`."""

    _database: Database
    _project: str

    async def pause_project(self, order: PauseOrder, *, at: Instant | None = None) -> ProjectPause:
        async def work(transaction: Transaction) -> ProjectPause:
            stored, now, later = await _lock(transaction, self._project, at)
            pause = begun(stored, order, now, later)
            await _save(transaction, self._project, pause, EventKind.PROJECT_PAUSED)
            return pause

        return await self._database.write("pause_project", work)

    async def resume_project(self, *, at: Instant | None = None) -> ProjectPause | None:
        async def work(transaction: Transaction) -> ProjectPause | None:
            stored, now, later = await _lock(transaction, self._project, at)
            pause = ended(stored, now, later)
            if pause is not None:
                await _save(transaction, self._project, pause, EventKind.PROJECT_RESUMED)
            return pause

        return await self._database.write("pause_project", work, merge=lambda first, second: first or second)


async def _lock(
    transaction: Transaction, project: str, at: Instant | None
) -> tuple[ProjectPauses, Instant, Watermarks]:
    """Return the pauses, the time and the watermarks, read after every decision that was being saved is committed."""
    await transaction.run("lock_project_pauses")
    now = await transaction.now(at)
    later = dict(await transaction.rows("later_watermarks", project, now))
    return project_pauses_of(await transaction.rows("project_pauses", project, now - 1)), now, later


async def _save(transaction: Transaction, project: str, pause: ProjectPause, kind: EventKind) -> None:
    await transaction.run("save_project_pause", *row_of(project, pause))
    transaction.add_event(kind, about_pause(pause))
    transaction.record(changes.paused_project(project, pause, is_paused=kind is EventKind.PROJECT_PAUSED))
    transaction.topics.add(Topic.SCHEDULES)
