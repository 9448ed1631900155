"""The users port: people with a password, and their sessions."""

from typing import NamedTuple, Protocol

from foliot.domain.instant import Instant


class NewUser(NamedTuple):
    name: str
    role: str
    password: str
    """The digest of the password."""


class StoredUser(NamedTuple):
    name: str
    role: str
    password: str
    """The digest of the password."""
    created_at: Instant
    created_by: str
    changed_at: Instant
    """When the password was set."""


class NewSession(NamedTuple):
    digest: bytes
    """The digest of the id of the session, which only the browser has."""
    user: str
    password: str
    """The digest of the password with which the user logged in."""
    expires_at: Instant


class StoredSession(NamedTuple):
    user: str
    role: str
    """The current role of the user."""
    created_at: Instant
    expires_at: Instant
    seen_at: Instant


class Users(Protocol):
    async def add(self, user: NewUser, *, at: Instant | None = None) -> bool:
        """Store a user, created by the actor. False: a user with this name exists."""
        ...

    async def get(self, name: str) -> StoredUser | None: ...

    async def all(self) -> list[StoredUser]:
        """Return all users by name."""
        ...

    async def set_password(self, name: str, password: str, *, at: Instant | None = None) -> bool:
        """Set the digest of a password, and end all sessions of the user. False: the user does not exist."""
        ...

    async def remove(self, name: str, *, at: Instant | None = None) -> bool:
        """Remove a user, and end all sessions. False: the user does not exist."""
        ...

    async def open_session(self, session: NewSession, *, at: Instant | None = None) -> bool:
        """Store a session. False: the user was removed, or has another password by now."""
        ...

    async def get_session(self, digest: bytes) -> StoredSession | None: ...

    async def save_seen(self, digest: bytes, *, at: Instant | None = None) -> None:
        """Save that a session is used now, unless a use within the last minute is saved."""
        ...

    async def close_session(self, digest: bytes, *, at: Instant | None = None) -> None:
        """End a session. Ending it twice has no effect."""
        ...
