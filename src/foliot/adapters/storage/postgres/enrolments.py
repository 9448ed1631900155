"""The workers that may connect over HTTP."""

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.shared.enrolment_rows import (
    created_enrolment,
    directed_workers,
    disabled_enrolment,
    enrolment_of,
    enrolment_row,
    joined_enrolment,
    removed_enrolment,
)
from foliot.domain.access.token import USE_INTERVAL
from foliot.domain.ids import WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import Order
from foliot.ports.enrolments import NewEnrolment, StoredEnrolment
from foliot.ports.topic import Topic


class PostgresEnrolments:
    """Fills `ports.enrolments.Enrolments`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, enrolment: NewEnrolment, *, at: Instant | None = None) -> bool:
        async def work(transaction: Transaction) -> bool:
            now = await transaction.now(at)
            row = (*enrolment_row(enrolment), now, str(transaction.actor))
            is_new = await transaction.value("add_enrolment", *row) is not None
            transaction.record(created_enrolment(enrolment) if is_new else [])
            return is_new

        # After a commit with a lost reply, the second try finds the enrolment of the first one.
        return await self._database.write("add_enrolment", work, merge=lambda first, second: first or second)

    async def get(self, enrolment_id: str) -> StoredEnrolment | None:
        rows = await self._database.rows("get_enrolment", enrolment_id)
        return enrolment_of(rows[0]) if rows else None

    async def find(self, name: str) -> StoredEnrolment | None:
        rows = await self._database.rows("find_enrolment", name)
        return enrolment_of(rows[0]) if rows else None

    async def all(self) -> list[StoredEnrolment]:
        return [enrolment_of(row) for row in await self._database.rows("all_enrolments")]

    async def join(self, enrolment_id: str, digest: bytes, sealed: bytes, *, at: Instant | None = None) -> bool:
        async def work(transaction: Transaction) -> bool:
            name = await transaction.value("join_enrolment", enrolment_id, digest, sealed, await transaction.now(at))
            transaction.record([] if name is None else joined_enrolment(name))
            return name is not None

        return await self._database.write("join_enrolment", work, merge=lambda first, second: first or second)

    async def set_disabled(self, name: str, disabled: bool, *, at: Instant | None = None) -> StoredEnrolment | None:
        async def work(transaction: Transaction) -> StoredEnrolment | None:
            now = await transaction.now(at)
            rows = await transaction.rows("set_enrolment_disabled", name, now if disabled else None)
            transaction.record(disabled_enrolment(name, disabled) if rows else [])
            return enrolment_of(rows[0]) if rows else None

        return await self._database.write("set_enrolment_disabled", work, merge=lambda first, second: second or first)

    async def remove(self, name: str) -> bool:
        async def work(transaction: Transaction) -> bool:
            is_removed = await transaction.value("remove_enrolment", name) is not None
            transaction.record(removed_enrolment(name) if is_removed else [])
            return is_removed

        return await self._database.write("remove_enrolment", work, merge=lambda first, second: first or second)

    async def direct(
        self, order: Order, *, name: str | None = None, version: str | None = None, at: Instant | None = None
    ) -> list[WorkerId]:
        async def work(transaction: Transaction) -> list[WorkerId]:
            found = [WorkerId(row[0]) for row in await transaction.rows("direct_workers", order.value, name, version)]
            if name is not None and version is None and order is not Order.DRAIN:
                await transaction.run("pause_pool" if order is Order.PAUSE else "resume_pool", name)
            transaction.record(directed_workers(order, name, version, len(found)))
            transaction.topics |= {Topic.CANCELS, Topic.RUNS}  # their heartbeats ask now instead of later
            return found

        return await self._database.write("direct_workers", work, merge=lambda first, second: second)

    async def take_nonce(
        self, enrolment_id: str, nonce: str, expires_at: Instant, *, at: Instant | None = None
    ) -> bool:
        async def work(transaction: Transaction) -> bool:
            now = await transaction.now(at)
            await transaction.run("expire_nonces", now)
            # A concurrent insert of the same nonce is waited for here, and then refuses this one.
            is_new = await transaction.value("take_nonce", enrolment_id, nonce, expires_at) is not None
            if is_new:
                await transaction.run("save_enrolment_use", enrolment_id, now, now - USE_INTERVAL)
            return is_new

        return await self._database.write("take_nonce", work, merge=lambda first, second: first or second)
