"""The tokens port: the stored tokens of programs."""

from typing import NamedTuple, Protocol

from foliot.domain.instant import Instant


class NewToken(NamedTuple):
    """A token to store. It has a role, or scopes."""

    id: str
    name: str
    role: str | None
    scopes: tuple[str, ...]
    digest: bytes
    expires_at: Instant | None


class StoredToken(NamedTuple):
    id: str
    name: str
    role: str | None
    scopes: tuple[str, ...]
    digest: bytes
    expires_at: Instant | None
    created_at: Instant
    created_by: str
    last_used_at: Instant | None
    revoked_at: Instant | None


class Tokens(Protocol):
    async def add(self, token: NewToken, *, at: Instant | None = None) -> bool:
        """Store a token, created by the actor. False: a token with this name exists that is not revoked."""
        ...

    async def get(self, token_id: str) -> StoredToken | None:
        """Return a token, also a revoked or expired one."""
        ...

    async def page(self, *, after: str | None = None, revoked: bool = False, limit: int = 100) -> list[StoredToken]:
        """Return tokens by id, those after `after`; with `revoked` also the revoked ones."""
        ...

    async def revoke(self, name: str, *, at: Instant | None = None) -> StoredToken | None:
        """Revoke the token with this id or name, and return it. None: there is none that is not revoked."""
        ...

    async def save_use(self, token_id: str, *, at: Instant | None = None) -> None:
        """Save that a token is used now, unless a use within the last minute is saved."""
        ...
