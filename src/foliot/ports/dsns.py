"""The DSN port: the databases that fanouts may read, each under a name. DSNs are stored encrypted (`ports.secrets`)."""

from collections.abc import Collection
from typing import NamedTuple, Protocol

from foliot.domain.instant import Instant


class StoredDsn(NamedTuple):
    """A stored DSN."""

    name: str
    engine: str
    """The kind of the database: sqlite or postgresql."""
    sealed: bytes
    updated_at: Instant


class Dsns(Protocol):
    async def put(self, name: str, engine: str, sealed: bytes, *, at: Instant | None = None) -> bool:
        """Store a DSN, in place of one with the same name. Return whether it is a new one."""
        ...

    async def get(self, name: str) -> StoredDsn | None: ...

    async def all(self) -> list[StoredDsn]:
        """Return all, by name."""
        ...

    async def remove(self, names: Collection[str]) -> list[str]:
        """Remove DSNs. Return the names that existed."""
        ...


class DsnSource(Protocol):
    """Finds DSNs by their names, for resolvers."""

    async def find(self, name: str) -> str:
        """Return the DSN. Raise NotFound, or SecretError if it cannot be decrypted."""
        ...
