"""The tokens of programs."""

from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.shared.token_rows import created_token, revoked_token, token_of
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.domain.access.token import USE_INTERVAL
from foliot.domain.instant import Instant
from foliot.ports.tokens import NewToken, StoredToken


class SqliteTokens(PortBase):
    """Fills `ports.tokens.Tokens`."""

    async def add(self, token: NewToken, *, at: Instant | None = None) -> bool:
        def work(tx: Transaction) -> bool:
            now = tx.now(at)
            what = (token.id, token.name, token.role, encode_names(token.scopes), token.digest, token.expires_at)
            is_new = tx.run(SQL["add_token"], (*what, now, str(tx.actor))) > 0
            tx.record(now, created_token(token) if is_new else [])
            return is_new

        return await self._writer.submit("add_token", work)

    async def get(self, token_id: str) -> StoredToken | None:
        row = self._reader.peek(lambda session: session.row(SQL["get_token"], (token_id,)))
        return None if row is None else token_of(row)

    async def page(self, *, after: str | None = None, revoked: bool = False, limit: int = 100) -> list[StoredToken]:
        values = (after or "", revoked, limit)
        rows = await self._reader.read(lambda session: session.rows(SQL["page_tokens"], values))
        return [token_of(row) for row in rows]

    async def revoke(self, name: str, *, at: Instant | None = None) -> StoredToken | None:
        def work(tx: Transaction) -> StoredToken | None:
            now = tx.now(at)
            row = tx.row(SQL["revoke_token"], (name, now))
            if row is None:
                return None
            token = token_of(row)
            tx.record(now, revoked_token(token))
            return token

        return await self._writer.submit("revoke_token", work)

    async def save_use(self, token_id: str, *, at: Instant | None = None) -> None:
        def work(tx: Transaction) -> None:
            now = tx.now(at)
            tx.run(SQL["save_token_use"], (token_id, now, now - USE_INTERVAL))

        await self._writer.submit("save_token_use", work)
