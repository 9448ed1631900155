"""People with a password, and their sessions."""

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.shared.user_rows import about_user, created_user
from foliot.domain.access.login import SEEN_INTERVAL
from foliot.domain.access.trail import AuditAction
from foliot.domain.instant import Instant
from foliot.ports.users import NewSession, NewUser, StoredSession, StoredUser


class PostgresUsers:
    """Fills `ports.users.Users`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, user: NewUser, *, at: Instant | None = None) -> bool:
        async def work(transaction: Transaction) -> bool:
            now = await transaction.now(at)
            is_new = await transaction.value("add_user", *user, now, str(transaction.actor), now) is not None
            transaction.record(created_user(user) if is_new else [])
            return is_new

        return await self._database.write("add_user", work, merge=_any)

    async def get(self, name: str) -> StoredUser | None:
        rows = await self._database.rows("get_user", name)
        return StoredUser(*rows[0]) if rows else None

    async def all(self) -> list[StoredUser]:
        return [StoredUser(*row) for row in await self._database.rows("all_users")]

    async def set_password(self, name: str, password: str, *, at: Instant | None = None) -> bool:
        async def work(transaction: Transaction) -> bool:
            now = await transaction.now(at)
            is_known = await transaction.value("set_password", name, password, now) is not None
            await transaction.run("end_sessions", name)
            transaction.record(about_user(AuditAction.PASSWORD, name) if is_known else [])
            return is_known

        return await self._database.write("set_password", work)

    async def remove(self, name: str, *, at: Instant | None = None) -> bool:
        async def work(transaction: Transaction) -> bool:
            await transaction.now(at)
            is_known = await transaction.value("remove_user", name) is not None
            await transaction.run("end_sessions", name)
            transaction.record(about_user(AuditAction.DELETE, name) if is_known else [])
            return is_known

        return await self._database.write("remove_user", work, merge=_any)

    async def open_session(self, session: NewSession, *, at: Instant | None = None) -> bool:
        async def work(transaction: Transaction) -> bool:
            now = await transaction.now(at)
            is_open = await transaction.value("open_session", *session, now) is not None
            transaction.record(about_user(AuditAction.LOGIN, session.user) if is_open else [])
            return is_open

        return await self._database.write("open_session", work, merge=_any)

    async def get_session(self, digest: bytes) -> StoredSession | None:
        rows = await self._database.rows("get_session", digest)
        return StoredSession(*rows[0]) if rows else None

    async def save_seen(self, digest: bytes, *, at: Instant | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            now = await transaction.now(at)
            await transaction.run("save_seen", digest, now, now - SEEN_INTERVAL)

        await self._database.write("save_seen", work)

    async def close_session(self, digest: bytes, *, at: Instant | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.now(at)
            for name in await transaction.column("close_session", digest):
                transaction.record(about_user(AuditAction.LOGOUT, name))

        await self._database.write("close_session", work)


def _any(first: bool, second: bool) -> bool:
    """Join the answers of two tries: after a commit with a lost reply, the second one finds the work done."""
    return first or second
