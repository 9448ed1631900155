"""The workers that may connect over HTTP."""

from foliot.adapters.storage.shared.enrolment_rows import (
    created_enrolment,
    directed_workers,
    disabled_enrolment,
    enrolment_of,
    enrolment_row,
    joined_enrolment,
    removed_enrolment,
)
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.domain.access.token import USE_INTERVAL
from foliot.domain.ids import WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import Order
from foliot.ports.enrolments import NewEnrolment, StoredEnrolment
from foliot.ports.topic import Topic


class SqliteEnrolments(PortBase):
    """Fills `ports.enrolments.Enrolments`."""

    async def add(self, enrolment: NewEnrolment, *, at: Instant | None = None) -> bool:
        def work(tx: Transaction) -> bool:
            now = tx.now(at)
            is_new = tx.row(SQL["add_enrolment"], (*enrolment_row(enrolment), now, str(tx.actor))) is not None
            tx.record(now, created_enrolment(enrolment) if is_new else [])
            return is_new

        return await self._writer.submit("add_enrolment", work)

    async def get(self, enrolment_id: str) -> StoredEnrolment | None:
        row = self._reader.peek(lambda session: session.row(SQL["get_enrolment"], (enrolment_id,)))
        return None if row is None else enrolment_of(row)

    async def find(self, name: str) -> StoredEnrolment | None:
        row = self._reader.peek(lambda session: session.row(SQL["find_enrolment"], (name,)))
        return None if row is None else enrolment_of(row)

    async def all(self) -> list[StoredEnrolment]:
        rows = await self._reader.read(lambda session: session.rows(SQL["all_enrolments"], ()))
        return [enrolment_of(row) for row in rows]

    async def join(self, enrolment_id: str, digest: bytes, sealed: bytes, *, at: Instant | None = None) -> bool:
        def work(tx: Transaction) -> bool:
            now = tx.now(at)
            row = tx.row(SQL["join_enrolment"], (enrolment_id, digest, sealed, now))
            tx.record(now, [] if row is None else joined_enrolment(row[0]))
            return row is not None

        return await self._writer.submit("join_enrolment", work)

    async def set_disabled(self, name: str, disabled: bool, *, at: Instant | None = None) -> StoredEnrolment | None:
        def work(tx: Transaction) -> StoredEnrolment | None:
            now = tx.now(at)
            row = tx.row(SQL["set_enrolment_disabled"], (name, now if disabled else None))
            if row is None:
                return None
            tx.record(now, disabled_enrolment(name, disabled))
            return enrolment_of(row)

        return await self._writer.submit("set_enrolment_disabled", work)

    async def remove(self, name: str) -> bool:
        def work(tx: Transaction) -> bool:
            is_removed = tx.row(SQL["remove_enrolment"], (name,)) is not None
            tx.record(tx.now(None), removed_enrolment(name) if is_removed else [])
            return is_removed

        return await self._writer.submit("remove_enrolment", work)

    async def direct(
        self, order: Order, *, name: str | None = None, version: str | None = None, at: Instant | None = None
    ) -> list[WorkerId]:
        def work(tx: Transaction) -> list[WorkerId]:
            found = [WorkerId(row[0]) for row in tx.rows(SQL["direct_workers"], (order.value, name, version))]
            if name is not None and version is None and order is not Order.DRAIN:
                tx.run(SQL["pause_pool" if order is Order.PAUSE else "resume_pool"], (name,))
            tx.record(tx.now(at), directed_workers(order, name, version, len(found)))
            tx.ring(Topic.CANCELS, Topic.RUNS)  # their heartbeats ask now instead of later
            return found

        return await self._writer.submit("direct_workers", work)

    async def take_nonce(
        self, enrolment_id: str, nonce: str, expires_at: Instant, *, at: Instant | None = None
    ) -> bool:
        def work(tx: Transaction) -> bool:
            now = tx.now(at)
            tx.run(SQL["expire_nonces"], (now,))
            is_new = tx.row(SQL["take_nonce"], (enrolment_id, nonce, expires_at)) is not None
            if is_new:
                tx.run(SQL["save_enrolment_use"], (enrolment_id, now, now - USE_INTERVAL))
            return is_new

        return await self._writer.submit("take_nonce", work)
