"""The verbs of maintenance."""

from copy import copy

from foliot.adapters.storage.shared.pruning import Round, Way
from foliot.adapters.storage.sqlite import schema
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.adapters.storage.sqlite.events import read_events
from foliot.adapters.storage.sqlite.leadership import SQL, is_current, lead
from foliot.adapters.storage.sqlite.logs import SQL as LOGS
from foliot.adapters.storage.sqlite.logs import SqliteLogs
from foliot.adapters.storage.sqlite.pruning import Finds, find, remove
from foliot.domain.events import Event
from foliot.domain.instant import Instant, Millis
from foliot.errors import SchemaTooNew
from foliot.ports.upkeep import Pruned, Retention


class SqliteUpkeep:
    """Fills `ports.upkeep.Upkeep`."""

    def __init__(self, access: Access, logs: SqliteLogs) -> None:
        self._writer, self._reader, self._clock, self._project = access
        self._logs = logs
        self._round = Round()

    async def lead(self, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        return await self._writer.submit("lead", lambda tx: lead(tx, holder, ttl), urgent=True)

    async def resign(self, holder: str) -> None:
        await self._writer.submit("resign", lambda tx: tx.run(SQL["resign"], (holder,)))

    async def prune(self, retention: Retention, *, epoch: int, limit: int, at: Instant | None = None) -> Pruned | None:
        now = self._clock.now() if at is None else at
        # A thread may still be looking for a piece that was given up.
        progress = copy(self._round)

        def look(session: Session) -> Finds | None:
            return find(session, self._project, progress, retention, now, limit) if is_current(session, epoch) else None

        def work(tx: Transaction) -> Pruned | None:
            if not is_current(tx, epoch):
                return None
            if logs and retention.logs_age is not None:
                tx.run(LOGS["note_logs_kept_from"], (now - retention.logs_age,))
            return remove(tx, finds, retention, now, limit)

        found = await self._reader.read(look)
        if found is None:
            return None
        finds = found
        # Logs go first: after a crash in between, a run without a log is better than a log that nobody removes.
        logs = await self._prune_logs(finds, progress, retention, now, limit)
        removed = await self._writer.submit("prune", work)
        if removed is None:
            return None
        # Only what is committed has been gone through.
        self._round, pruned = progress.after(removed._replace(logs=logs), retention, limit)
        return pruned

    async def check(self) -> None:
        self._writer.footing.check()
        least = await self._reader.read(lambda session: session.value(SQL["min_code"]))
        if least > max(schema.MAIN):
            raise SchemaTooNew(found=least, supported=max(schema.MAIN))

    async def events(self, *, after: int, limit: int) -> list[Event]:
        return await self._reader.read(lambda session: read_events(session, after, limit))

    async def _prune_logs(self, finds: Finds, progress: Round, retention: Retention, now: Instant, limit: int) -> int:
        before = None if retention.logs_age is None else Instant(now - retention.logs_age)
        place = None if before is None else progress.place(Way.LOGS)
        if place is None and not finds.runs:
            return 0
        removed, place = await self._logs.prune(finds.runs, before, place, limit)
        progress.move(Way.LOGS, place)
        return removed
