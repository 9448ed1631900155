"""The positions of listeners in the events."""

from foliot.adapters.storage.postgres.database.transaction import Database
from foliot.domain.instant import Instant, Millis


class PostgresListeners:
    """Fills `ports.listeners.Listeners`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self) -> int:
        return int(await self._database.value("newest_event"))

    async def is_known(self, name: str) -> bool:
        return bool(await self._database.value("is_listener", name))

    async def hold(self, name: str, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        position: int | None = await self._database.write(
            "hold_listener", lambda transaction: transaction.value("hold_listener", name, holder, ttl, at)
        )
        return position

    async def advance(self, name: str, holder: str, position: int) -> bool:
        saved = await self._database.write(
            "advance_listener", lambda transaction: transaction.value("advance_listener", name, holder, position)
        )
        return saved is not None

    async def release(self, name: str, holder: str) -> None:
        await self._database.write(
            "release_listener", lambda transaction: transaction.run("release_listener", name, holder)
        )
