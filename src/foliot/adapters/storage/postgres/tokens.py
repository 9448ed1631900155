"""The tokens of programs."""

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.shared.token_rows import created_token, revoked_token, token_of
from foliot.domain.access.token import USE_INTERVAL
from foliot.domain.instant import Instant
from foliot.ports.tokens import NewToken, StoredToken


class PostgresTokens:
    """Fills `ports.tokens.Tokens`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, token: NewToken, *, at: Instant | None = None) -> bool:
        async def work(transaction: Transaction) -> bool:
            now = await transaction.now(at)
            what = (token.id, token.name, token.role, encode_names(token.scopes), token.digest, token.expires_at)
            is_new = await transaction.value("add_token", *what, now, str(transaction.actor)) is not None
            transaction.record(created_token(token) if is_new else [])
            return is_new

        # After a commit with a lost reply, the second try finds the token of the first one.
        return await self._database.write("add_token", work, merge=lambda first, second: first or second)

    async def get(self, token_id: str) -> StoredToken | None:
        rows = await self._database.rows("get_token", token_id)
        return token_of(rows[0]) if rows else None

    async def page(self, *, after: str | None = None, revoked: bool = False, limit: int = 100) -> list[StoredToken]:
        return [token_of(row) for row in await self._database.rows("page_tokens", after or "", revoked, limit)]

    async def revoke(self, name: str, *, at: Instant | None = None) -> StoredToken | None:
        async def work(transaction: Transaction) -> StoredToken | None:
            rows = await transaction.rows("revoke_token", name, await transaction.now(at))
            found = [token_of(row) for row in rows]
            for token in found:
                transaction.record(revoked_token(token))
            return found[0] if found else None

        return await self._database.write("revoke_token", work, merge=lambda first, second: second or first)

    async def save_use(self, token_id: str, *, at: Instant | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            now = await transaction.now(at)
            await transaction.run("save_token_use", token_id, now, now - USE_INTERVAL)

        await self._database.write("save_token_use", work)
