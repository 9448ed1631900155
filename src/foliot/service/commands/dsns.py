"""Commands about DSNs: the databases that fanouts may read."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from foliot.domain.fanout.dsn import engine_of
from foliot.domain.fanout.inputs import check_dsn_name
from foliot.domain.instant import to_datetime
from foliot.errors import NotFound
from foliot.ports.secrets import Secrets
from foliot.ports.storage import Storage


class DsnView(NamedTuple):
    """A registered DSN, without its text."""

    name: str
    engine: str
    updated_at: datetime


class DsnService:
    """Registers DSNs. Their texts are encrypted, and no method but `find` returns one."""

    def __init__(self, storage: Storage, secrets: Secrets) -> None:
        self._storage = storage
        self._secrets = secrets

    async def add(self, name: str, dsn: str) -> bool:
        """Store a DSN, in place of one with the same name. Return whether it is a new one."""
        engine = engine_of(dsn)
        # In a thread: the first call reads a file and loads the package for encryption.
        sealed = await asyncio.to_thread(self._secrets.seal, dsn.encode(), _purpose(check_dsn_name(name)))
        return await self._storage.dsns.put(name, engine, sealed)

    async def all(self) -> list[DsnView]:
        """Return all DSNs of the database, by name."""
        found = await self._storage.dsns.all()
        return [DsnView(one.name, one.engine, to_datetime(one.updated_at)) for one in found]

    async def remove(self, name: str) -> None:
        if not await self._storage.dsns.remove([name]):
            raise await self._missing(name)

    async def find(self, name: str) -> str:
        """Return the DSN itself, for a resolver."""
        found = await self._storage.dsns.get(name)
        if found is None:
            raise await self._missing(name)
        return (await asyncio.to_thread(self._secrets.unseal, found.sealed, _purpose(name))).decode()

    async def _missing(self, name: str) -> NotFound:
        return NotFound("DSN", name, known=[one.name for one in await self._storage.dsns.all()])


class ConfiguredDsns:
    """DSNs of a configuration file, and those of the database for all other names."""

    def __init__(self, configured: Mapping[str, str], stored: DsnService) -> None:
        self._configured: Final = configured
        self._stored = stored

    async def find(self, name: str) -> str:
        known = self._configured.get(name)
        return await self._stored.find(name) if known is None else known


def _purpose(name: str) -> str:
    return f"dsn:{name}"
