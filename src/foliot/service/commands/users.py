"""Commands about users, and their logins."""

import asyncio
import logging
import secrets
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from foliot.domain.access.actor import SYSTEM, Actor, ActorKind, one_line
from foliot.domain.access.login import (
    LONGEST_PASSWORD,
    SEEN_INTERVAL,
    SESSION_LIFETIME,
    FailureLimit,
    check_password,
    is_session_live,
    session_digest,
)
from foliot.domain.access.principal import Principal, PrincipalKind
from foliot.domain.access.role import Role, parse_role
from foliot.domain.access.token import check_principal_name
from foliot.domain.access.trail import AuditAction, AuditKind, ChangeRecord
from foliot.domain.input.words import text
from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.errors import CredentialsRefused, InvalidInput, NotFound, RateLimited, StorageError
from foliot.ports.clock import Clock
from foliot.ports.passwords import Passwords
from foliot.ports.storage import Storage
from foliot.ports.users import NewSession, NewUser, StoredSession, StoredUser

log = logging.getLogger(__name__)

_AT_ONCE: Final = 2
"""How many digests are computed at the same time; each needs 64 MiB."""


class UserView(msgspec.Struct, frozen=True, kw_only=True):
    """A user."""

    name: str
    role: str
    created_at: datetime
    created_by: str
    changed_at: datetime
    """When the password was set."""


class LoggedIn(NamedTuple):
    """A new session."""

    principal: Principal
    secret: str
    """The id of the session, for the cookie. It is stored nowhere."""
    expires_at: datetime


class PasswordCheck:
    """Computes digests in threads, a few at a time, so that logins never block the event loop."""

    def __init__(self, passwords: Passwords) -> None:
        self._passwords = passwords
        self._limit = asyncio.Semaphore(_AT_ONCE)
        self._decoy: str | None = None

    async def digest(self, password: str) -> str:
        async with self._limit:
            return await asyncio.to_thread(self._passwords.digest, password)

    async def matches(self, password: str, digest: str | None) -> bool:
        """Return whether the password has this digest. None, for an unknown user, takes as long and is False."""
        async with self._limit:
            # Computed before the first check of any user, known or not.
            if self._decoy is None:
                self._decoy = await asyncio.to_thread(self._passwords.digest, secrets.token_hex())
            matching = await asyncio.to_thread(self._passwords.matches, password, digest or self._decoy)
        return matching and digest is not None


class UserService:
    """Adds and removes users, and logs them in and out."""

    def __init__(self, storage: Storage, clock: Clock, passwords: PasswordCheck, failures: FailureLimit) -> None:
        self._storage = storage
        self._clock = clock
        self._passwords = passwords
        self.failures = failures
        """Counts refused passwords; requests with refused tokens may be counted here too."""

    async def add(self, name: str, password: str, *, role: str) -> UserView:
        """Add a user with a role."""
        known = parse_role(role)
        check_principal_name(name)
        digest = await self._passwords.digest(check_password(text(password, "password", InvalidInput)))
        if not await self._storage.users.add(NewUser(name, known, digest)):
            hint = f"Choose another name, or change the password: foliot user passwd {name}"
            raise InvalidInput(f'user "{name}" exists', hint=hint, field="name")
        return await self.get(name)

    async def get(self, name: str) -> UserView:
        found = await self._storage.users.get(text(name, "name", InvalidInput))
        if found is None:
            raise await self._missing(name)
        return _view(found)

    async def all(self) -> list[UserView]:
        """Return all users by name."""
        return [_view(user) for user in await self._storage.users.all()]

    async def set_password(self, name: str, password: str) -> None:
        """Set the password of a user, and end all sessions."""
        digest = await self._passwords.digest(check_password(text(password, "password", InvalidInput)))
        if not await self._storage.users.set_password(text(name, "name", InvalidInput), digest):
            raise await self._missing(name)

    async def remove(self, name: str) -> None:
        """Remove a user, and end all sessions."""
        if not await self._storage.users.remove(text(name, "name", InvalidInput)):
            raise await self._missing(name)

    async def log_in(self, name: str, password: str, address: str) -> LoggedIn:
        """Open a session. Raise CredentialsRefused, or RateLimited after too many failures of the name or address.

        An unknown user gets the same answer after the same time.
        """
        now = self._clock.now()
        shown = one_line(name)
        wait = self.failures.retry_after(shown, address, now)
        if wait is not None:
            raise RateLimited(wait / SECOND)
        user = await self._storage.users.get(name) if len(password) <= LONGEST_PASSWORD else None
        is_right = await self._passwords.matches(password[:LONGEST_PASSWORD], user.password if user else None)
        opened = await self._open_session(user, address) if user is not None and is_right else None
        if opened is None:
            self.failures.fail(shown, address, now)
            refused = ChangeRecord(AuditAction.REFUSE, AuditKind.USER, shown, None, {"address": address})
            await self._storage.acting_as(SYSTEM).audit.add([refused])
            raise CredentialsRefused
        self.failures.succeed(shown, address)
        return opened

    async def _open_session(self, user: StoredUser, address: str) -> LoggedIn | None:
        secret = secrets.token_urlsafe(32)
        expires_at = Instant(self._clock.now() + SESSION_LIFETIME)
        acting = self._storage.acting_as(Actor(ActorKind.USER, user.name, address))
        session = NewSession(session_digest(secret), user.name, user.password, expires_at)
        if not await acting.users.open_session(session):
            return None
        return LoggedIn(_principal(user.name, user.role), secret, to_datetime(expires_at))

    async def verify_session(self, secret: str) -> Principal | None:
        """Return who has this session. None: it does not exist, was not used for long, or has ended."""
        digest = session_digest(secret)
        session = await self._storage.users.get_session(digest)
        now = self._clock.now()
        if session is None or not is_session_live(session.expires_at, session.seen_at, now):
            return None
        await self._save_seen(digest, session, now)
        return _principal(session.user, session.role)

    async def log_out(self, secret: str) -> None:
        """End a session. Ending it twice has no effect."""
        await self._storage.users.close_session(session_digest(secret))

    async def _save_seen(self, digest: bytes, session: StoredSession, now: Instant) -> None:
        if not session.seen_at <= now < session.seen_at + SEEN_INTERVAL:
            try:
                await self._storage.users.save_seen(digest)
            except StorageError as error:
                # A database that can only be read at the moment must not lock out people who look for the reason.
                log.warning("session_use_not_saved", extra={"user": session.user, "error": error.message})

    async def _missing(self, name: str) -> NotFound:
        return NotFound("user", name, known=[user.name for user in await self._storage.users.all()])


def _principal(name: str, role: str) -> Principal:
    return Principal(kind=PrincipalKind.USER, name=name, role=Role(role))


def _view(user: StoredUser) -> UserView:
    return UserView(
        name=user.name,
        role=user.role,
        created_at=to_datetime(user.created_at),
        created_by=user.created_by,
        changed_at=to_datetime(user.changed_at),
    )
