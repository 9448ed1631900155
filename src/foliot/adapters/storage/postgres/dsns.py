"""The databases that fanouts may read."""

from collections.abc import Collection

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.shared import changes
from foliot.domain.instant import Instant
from foliot.ports.dsns import StoredDsn


class PostgresDsns:
    """Fills `ports.dsns.Dsns`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, name: str, engine: str, sealed: bytes, *, at: Instant | None = None) -> bool:
        async def work(transaction: Transaction) -> bool:
            now = await transaction.now(at)
            is_new = bool(await transaction.value("put_dsn", name, engine, sealed, now))
            transaction.record(changes.put_dsn(name, engine, is_new=is_new))
            return is_new

        return await self._database.write("put_dsn", work)

    async def get(self, name: str) -> StoredDsn | None:
        found = await self._database.rows("get_dsn", name)
        return StoredDsn(*found[0]) if found else None

    async def all(self) -> list[StoredDsn]:
        return [StoredDsn(*row) for row in await self._database.rows("all_dsns")]

    async def remove(self, names: Collection[str]) -> list[str]:
        async def work(transaction: Transaction) -> list[str]:
            asked = sorted(set(names))
            removed = [name for name in asked if await transaction.value("remove_dsn", name) is not None]
            transaction.record(changes.removed_dsns(removed))
            return removed

        return await self._database.write("remove_dsn", work)
