"""How a database that is named by a URL alone is opened."""

from foliot.adapters.storage.postgres.database import Faults
from foliot.adapters.storage.postgres.storage import PostgresStorage, open_postgres
from foliot.ports.clock import Clock


async def open_url(url: str, *, clock: Clock, faults: Faults, create: bool = True) -> PostgresStorage:
    """Open what the URL names. The clock is not asked: on PostgreSQL the server's own is the one that counts."""
    return await open_postgres(url, faults=faults, create=create)
