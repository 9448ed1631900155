"""The positions of listeners in the events."""

from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.domain.instant import Instant, Millis


class SqliteListeners(PortBase):
    """Fills `ports.listeners.Listeners`."""

    async def newest(self) -> int:
        return await self._reader.read(lambda session: int(session.value(SQL["newest_event"], ())))

    async def is_known(self, name: str) -> bool:
        return bool(await self._reader.read(lambda session: session.value(SQL["is_listener"], (name,))))

    async def hold(self, name: str, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        def work(tx: Transaction) -> int | None:
            position: int | None = tx.value(
                SQL["hold_listener"], (name, holder, tx.clock.boot_id, tx.clock.elapsed(), ttl)
            )
            return position

        return await self._writer.submit("hold_listener", work)

    async def advance(self, name: str, holder: str, position: int) -> bool:
        return await self._writer.submit(
            "advance_listener", lambda tx: bool(tx.run(SQL["advance_listener"], (name, holder, position)))
        )

    async def release(self, name: str, holder: str) -> None:
        await self._writer.submit("release_listener", lambda tx: tx.run(SQL["release_listener"], (name, holder)))
