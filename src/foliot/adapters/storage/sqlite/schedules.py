"""The verbs about schedules."""

from collections.abc import Collection, Sequence
from typing import Final

from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.sqlite import due as looking
from foliot.adapters.storage.sqlite import edits, ledger, ticks
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.schedule.firing import Firing
from foliot.domain.schedule.schedule import Schedule
from foliot.domain.schedule.tick import TickRecord
from foliot.ports.definitions import NewSchedule
from foliot.ports.ledger import DueBatch
from foliot.ports.queries import ScheduleLedger

_NEXT_WAKE: Final = edits.SQL["next_wake"]
_NEXT_WAKE_BESIDES: Final = edits.SQL["next_wake_besides"]


class SqliteSchedules:
    """Fills `ports.schedules.ScheduleStore`."""

    def __init__(self, access: Access) -> None:
        self._writer, self._reader, self._clock, self._project = access

    async def put(self, schedules: Sequence[NewSchedule], *, at: Instant | None = None) -> list[Schedule]:
        def work(tx: Transaction) -> list[Schedule]:
            return edits.put(tx, self._project, schedules, tx.now(at))

        return await self._writer.submit("put_schedules", work)

    async def pause(
        self, schedule_ids: Collection[ScheduleId], *, paused: bool, at: Instant | None = None
    ) -> list[Schedule]:
        def work(tx: Transaction) -> list[Schedule]:
            found = {schedule.id: schedule for schedule in edits.named(tx, self._project, schedule_ids).sure}
            wanted = [found[schedule_id] for schedule_id in dict.fromkeys(schedule_ids) if schedule_id in found]
            return edits.pause(tx, wanted, tx.now(at), paused=paused)

        return await self._writer.submit("pause", work)

    async def delete(self, schedule_ids: Collection[ScheduleId], *, at: Instant | None = None) -> list[ScheduleId]:
        def work(tx: Transaction) -> list[ScheduleId]:
            found = self._named(tx, schedule_ids)
            edits.delete(tx, found, tx.now(at))
            return [schedule.id for schedule in found]

        return await self._writer.submit("delete_schedules", work)

    async def get(self, schedule_ids: Collection[ScheduleId]) -> dict[ScheduleId, Schedule]:
        def look(session: Session) -> dict[ScheduleId, Schedule]:
            return {schedule.id: schedule for schedule in edits.named(session, self._project, schedule_ids).shown}

        return await self._reader.read(look)

    async def page(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> list[Schedule]:
        def look(session: Session) -> list[Schedule]:
            name, who = ("page_schedules", ()) if job_id is None else ("page_schedules_of_job", (job_id,))
            rows = session.rows(edits.SQL[name], (self._project, *who, after or "", limit))
            return edits.read_schedules(session, self._project, rows).shown

        return await self._reader.read(look)

    async def due(self, limit: int, *, at: Instant | None = None) -> DueBatch:
        def look(session: Session) -> DueBatch:
            now = self._clock.now() if at is None else at
            return looking.due(session, self._project, limit, now)

        return await self._reader.read(look)

    async def settle(self, firings: Sequence[Firing], *, at: Instant | None = None) -> list[ScheduleUid]:
        def work(tx: Transaction) -> list[ScheduleUid]:
            return ledger.settle(tx, self._project, firings, tx.now(at))

        return await self._writer.submit("settle", work)

    async def next_wake(self, *, besides: Collection[ScheduleUid] = ()) -> Instant | None:
        asked = (_NEXT_WAKE_BESIDES, (encode_names(besides),)) if besides else (_NEXT_WAKE, ())
        row = self._reader.peek(*asked)
        return None if row is None else Instant(row[0])

    async def ticks(self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int) -> list[TickRecord]:
        return await self._reader.read(lambda session: ticks.read_ticks(session, uid, after, until, limit))

    async def tick_keys(
        self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int
    ) -> list[tuple[Instant, str]]:
        return await self._reader.read(lambda session: ticks.read_tick_keys(session, uid, after, until, limit))

    async def shared_runs(self, uid: ScheduleUid, *, after: Instant) -> list[RunId]:
        return await self._reader.read(lambda session: ticks.read_shared_runs(session, uid, after))

    async def ledgers(
        self, *, after: ScheduleUid | None = None, limit: int = 100, ids: Collection[ScheduleId] | None = None
    ) -> list[ScheduleLedger]:
        return await self._reader.read(lambda session: looking.ledgers(session, self._project, after, limit, ids))

    def _named(self, session: Session, schedule_ids: Collection[ScheduleId]) -> list[Schedule]:
        found = edits.get_schedules(session, self._project, schedule_ids)
        return [found[schedule_id] for schedule_id in dict.fromkeys(schedule_ids) if schedule_id in found]
