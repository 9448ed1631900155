"""Maintenance: one leader at a time, retention, and workers that have expired."""

from copy import copy

from foliot.adapters.storage.shared.documents import encode, encode_names
from foliot.adapters.storage.shared.pruning import Place, Round, Way
from foliot.adapters.storage.sqlite.database.context import Context, Part
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.schema import MAIN
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.adapters.storage.sqlite.pruning import Finds, find, remove
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.lease import ExpiredLease
from foliot.errors import SchemaTooNew
from foliot.ports.upkeep import Pruned, Retention


class SqliteUpkeep(Part):
    """Fills `ports.upkeep.Upkeep`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._round = Round()

    async def lead(self, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        return await self._writer.submit("lead", lambda tx: _lead(tx, holder, ttl), urgent=True)

    async def resign(self, holder: str) -> None:
        await self._writer.submit("resign", lambda tx: tx.run(SQL["resign"], (holder,)))

    async def prune(self, retention: Retention, *, epoch: int, limit: int, at: Instant | None = None) -> Pruned | None:
        now = self._context.now(at)
        # A thread may still be looking for a piece that was given up.
        progress = copy(self._round)

        def look(session: Session) -> Finds | None:
            if not _is_current(session, epoch):
                return None
            return find(session, self._project, progress, retention, now, limit)

        def work(tx: Transaction) -> Pruned | None:
            if not _is_current(tx, epoch):
                return None
            if logs and retention.logs_age is not None:
                tx.run(SQL["note_logs_kept_from"], (now - retention.logs_age,))
            return remove(tx, finds, retention, now, limit)

        found = await self._reader.read(look)
        if found is None:
            return None
        finds = found
        # Logs go first: after a crash in between, a run without a log is better than a log that is never removed.
        logs = await self._prune_logs(finds, progress, retention, now, limit)
        removed = await self._writer.submit("prune", work)
        if removed is None:
            return None
        # Only what is committed has been gone through.
        self._round, pruned = progress.after(removed._replace(logs=logs), retention, limit)
        return pruned

    async def check(self) -> None:
        self._writer.file_identity.check()
        least = await self._reader.read(lambda session: session.value(SQL["min_code"]))
        if least > max(MAIN):
            raise SchemaTooNew(found=least, supported=max(MAIN))

    async def expired_leases(self, limit: int, *, at: Instant | None = None) -> list[ExpiredLease]:
        clock = self._context.clock
        values = (clock.boot_id, clock.elapsed(), limit)
        rows = await self._reader.read(lambda session: session.rows(SQL["expired_leases"], values))
        return [ExpiredLease(*row) for row in rows]

    async def remove_expired_workers(self, *, at: Instant | None = None) -> int:
        return await self._writer.submit(
            "remove_expired", lambda tx: tx.run(SQL["remove_expired"], (tx.clock.boot_id, tx.clock.elapsed()))
        )

    async def _prune_logs(self, finds: Finds, progress: Round, retention: Retention, now: Instant, limit: int) -> int:
        """Remove the chunks of removed runs, and up to `limit` old chunks of runs that are over."""
        place = None if retention.logs_age is None else progress.place(Way.LOGS)
        if place is None and not finds.runs:
            return 0
        old: list[int] = []
        if retention.logs_age is not None and place is not None:
            old, place = await self._old_chunks(Instant(now - retention.logs_age), place, limit)

        def work(tx: Transaction) -> int:
            of_runs = tx.run(SQL["remove_chunks_of_runs"], (encode_names(finds.runs),)) if finds.runs else 0
            return of_runs + (tx.run(SQL["remove_chunks"], (encode(old),)) if old else 0)

        removed = await self._context.logs.submit("prune_logs", work)
        progress.move(Way.LOGS, place)
        return removed

    async def _old_chunks(self, before: Instant, place: Place, limit: int) -> tuple[list[int], Place | None]:
        """Chunks of ended runs from before that moment, and where to go on. Chunks are walked in the order in which
        they were written."""
        rows = await self._context.logs.rows(SQL["walk_chunks"], (place or 0, limit))
        old = [(rowid, run_id) for rowid, run_id, at in rows if at < before]
        run_ids = encode_names({run_id for _, run_id in old})
        unfinished = set(await self._reader.read(lambda session: session.column(SQL["unfinished_runs"], (run_ids,))))
        following = rows[-1][0] if len(rows) == limit and rows[-1][2] < before else None
        return [rowid for rowid, run_id in old if run_id not in unfinished], following


def _lead(tx: Transaction, holder: str, ttl: Millis) -> int | None:
    """Epochs rise with each change of the leader, so that writes of a former one are refused."""
    boot_id, elapsed = tx.clock.boot_id, tx.clock.elapsed()
    former, epoch, is_live = tx.row(SQL["leader"], (boot_id, elapsed)) or (None, 0, False)
    if is_live and former != holder:
        return None
    term = epoch if is_live else epoch + 1
    tx.run(SQL["lead"], (holder, term, boot_id, elapsed + ttl))
    return int(term)


def _is_current(session: Session, epoch: int) -> bool:
    """Whether no other leader was there since, and this one has not resigned."""
    return bool(session.value(SQL["is_current"], (epoch,)))
