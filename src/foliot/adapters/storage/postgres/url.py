"""How a database that is named by a URL alone is opened."""

from foliot.adapters.storage.postgres.database import Faults
from foliot.adapters.storage.postgres.storage import PostgresStorage, open_postgres
from foliot.ports.clock import Clock


async def open_url(url: str, *, clock: Clock, faults: Faults, create: bool = True) -> PostgresStorage:
    return await open_postgres(url, clock=clock, faults=faults, create=create)
