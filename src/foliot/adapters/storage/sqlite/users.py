"""People with a password, and their sessions."""

from foliot.adapters.storage.shared.user_rows import about_user, created_user
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.domain.access.login import SEEN_INTERVAL
from foliot.domain.access.trail import AuditAction
from foliot.domain.instant import Instant
from foliot.ports.users import NewSession, NewUser, StoredSession, StoredUser


class SqliteUsers(PortBase):
    """Fills `ports.users.Users`."""

    async def add(self, user: NewUser, *, at: Instant | None = None) -> bool:
        def work(tx: Transaction) -> bool:
            now = tx.now(at)
            is_new = tx.run(SQL["add_user"], (*user, now, str(tx.actor), now)) > 0
            tx.record(now, created_user(user) if is_new else [])
            return is_new

        return await self._writer.submit("add_user", work)

    async def get(self, name: str) -> StoredUser | None:
        row = self._reader.peek(lambda session: session.row(SQL["get_user"], (name,)))
        return None if row is None else StoredUser(*row)

    async def all(self) -> list[StoredUser]:
        rows = await self._reader.read(lambda session: session.rows(SQL["all_users"]))
        return [StoredUser(*row) for row in rows]

    async def set_password(self, name: str, password: str, *, at: Instant | None = None) -> bool:
        def work(tx: Transaction) -> bool:
            now = tx.now(at)
            is_known = tx.run(SQL["set_password"], (name, password, now)) > 0
            tx.run(SQL["end_sessions"], (name,))
            tx.record(now, about_user(AuditAction.PASSWORD, name) if is_known else [])
            return is_known

        return await self._writer.submit("set_password", work)

    async def remove(self, name: str, *, at: Instant | None = None) -> bool:
        def work(tx: Transaction) -> bool:
            is_known = tx.run(SQL["remove_user"], (name,)) > 0
            tx.run(SQL["end_sessions"], (name,))
            tx.record(tx.now(at), about_user(AuditAction.DELETE, name) if is_known else [])
            return is_known

        return await self._writer.submit("remove_user", work)

    async def open_session(self, session: NewSession, *, at: Instant | None = None) -> bool:
        def work(tx: Transaction) -> bool:
            now = tx.now(at)
            is_open = tx.run(SQL["open_session"], (*session, now)) > 0
            tx.record(now, about_user(AuditAction.LOGIN, session.user) if is_open else [])
            return is_open

        return await self._writer.submit("open_session", work)

    async def get_session(self, digest: bytes) -> StoredSession | None:
        row = self._reader.peek(lambda session: session.row(SQL["get_session"], (digest,)))
        return None if row is None else StoredSession(*row)

    async def save_seen(self, digest: bytes, *, at: Instant | None = None) -> None:
        def work(tx: Transaction) -> None:
            now = tx.now(at)
            tx.run(SQL["save_seen"], (digest, now, now - SEEN_INTERVAL))

        await self._writer.submit("save_seen", work)

    async def close_session(self, digest: bytes, *, at: Instant | None = None) -> None:
        def work(tx: Transaction) -> None:
            closed = tx.column(SQL["close_session"], (digest,))
            tx.record(tx.now(at), [one for name in closed for one in about_user(AuditAction.LOGOUT, name)])

        await self._writer.submit("close_session", work)
