"""The databases that fanouts may read."""

from collections.abc import Collection

from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.domain.instant import Instant
from foliot.ports.dsns import StoredDsn


class SqliteDsns(PortBase):
    """Fills `ports.dsns.Dsns`."""

    async def put(self, name: str, engine: str, sealed: bytes, *, at: Instant | None = None) -> bool:
        def work(tx: Transaction) -> bool:
            is_new = tx.row(SQL["get_dsn"], (name,)) is None
            tx.run(SQL["put_dsn"], (name, engine, sealed, tx.now(at)))
            tx.record(tx.now(at), changes.put_dsn(name, engine, is_new=is_new))
            return is_new

        return await self._writer.submit("put_dsn", work)

    async def get(self, name: str) -> StoredDsn | None:
        found = await self._reader.read(lambda session: session.row(SQL["get_dsn"], (name,)))
        return None if found is None else StoredDsn(*found)

    async def all(self) -> list[StoredDsn]:
        found = await self._reader.read(lambda session: session.rows(SQL["all_dsns"], ()))
        return [StoredDsn(*row) for row in found]

    async def remove(self, names: Collection[str]) -> list[str]:
        def work(tx: Transaction) -> list[str]:
            removed = [name for name in sorted(set(names)) if tx.run(SQL["remove_dsn"], (name,))]
            tx.record(tx.now(None), changes.removed_dsns(removed))
            return removed

        return await self._writer.submit("remove_dsn", work)
