"""Commands about tokens, and the check of a token that a request has."""

import hmac
import logging
import secrets
from collections.abc import AsyncIterator
from datetime import datetime
from typing import NamedTuple

import msgspec

from foliot.domain.access.actor import SYSTEM
from foliot.domain.access.principal import Principal, PrincipalKind, Scope, parse_scope, trigger_scope
from foliot.domain.access.role import CREDENTIAL_ROLES, Role, parse_role
from foliot.domain.access.token import (
    SECRET_BITS,
    TOKEN_PREFIX,
    check_principal_name,
    needs_use_saved,
    token_digest,
    token_id_of,
    token_text,
)
from foliot.domain.access.trail import AuditAction, AuditKind, ChangeRecord
from foliot.domain.ids import IdSource
from foliot.domain.input.timing import Moment, optional_instant
from foliot.domain.input.words import text
from foliot.domain.instant import Instant, to_datetime
from foliot.errors import InvalidInput, NotFound, StorageError
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.ports.tokens import NewToken, StoredToken
from foliot.service.commands.jobs import JobService
from foliot.service.paging import PAGE, SUGGESTIONS, check_limit, each_of
from foliot.service.queries.documents import moment

log = logging.getLogger(__name__)


class TokenView(msgspec.Struct, frozen=True, kw_only=True):
    """A token, without its text."""

    id: str
    name: str
    prefix: str
    """How its text begins."""
    role: str | None
    """None: it may only do what its scopes say."""
    scopes: tuple[str, ...]
    state: str
    """active, expired or revoked"""
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    """Saved at most once a minute."""
    revoked_at: datetime | None


class CreatedToken(NamedTuple):
    """A new token with its text, which is stored nowhere and cannot be read again."""

    token: TokenView
    secret: str


class TokenService:
    """Creates, lists, revokes and checks tokens."""

    def __init__(self, storage: Storage, clock: Clock, ids: IdSource, jobs: JobService) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._jobs = jobs

    async def create(
        self,
        *,
        role: str | None = None,
        job: str | None = None,
        name: str | None = None,
        expires: Moment | None = None,
    ) -> CreatedToken:
        """Create a token with a role, or one that may only start one job or workflow, and return it with its text."""
        if (role is None) == (job is None):
            hint = "Give a role, or the job that the token may start."
            raise InvalidInput("a token has either a role or a job", hint=hint, field="role")
        known = None if role is None else parse_role(role, known=CREDENTIAL_ROLES)
        scopes = () if job is None else (await self._scope_of(job),)
        now = self._clock.now()
        token_id = self._ids.make(now)
        secret = token_text(token_id, secrets.randbits(SECRET_BITS))
        chosen = f"{known or 'trigger'}-{token_id[-6:].lower()}" if name is None else name
        new = NewToken(
            id=token_id,
            name=check_principal_name(chosen),
            role=known,
            scopes=tuple(str(scope) for scope in scopes),
            digest=token_digest(secret),
            expires_at=_expiry(expires, now),
        )
        if not await self._storage.tokens.add(new):
            hint = "Choose another name, or revoke that one: foliot token revoke NAME"
            raise InvalidInput(f'a token named "{chosen}" exists', hint=hint, field="name")
        return CreatedToken(await self.get(token_id), secret)

    async def _scope_of(self, job: str) -> Scope:
        """Return the scope for a job or a workflow. The job behind a workflow has the same name."""
        return trigger_scope((await self._jobs.record(job)).id)

    async def get(self, token_id: str) -> TokenView:
        found = await self._storage.tokens.get(text(token_id, "token_id", InvalidInput))
        if found is None:
            raise NotFound("token", token_id)
        return self._view(found)

    async def page(self, *, after: str | None = None, revoked: bool = False, limit: int = 100) -> list[TokenView]:
        """Return up to `limit` tokens, oldest first, with ids after `after`; with `revoked` also revoked ones."""
        check_limit(limit)
        begin = None if after is None else text(after, "after", InvalidInput)
        found = await self._storage.tokens.page(after=begin, revoked=revoked, limit=limit)
        return [self._view(token) for token in found]

    def all(self, *, revoked: bool = False) -> AsyncIterator[TokenView]:
        """Return all tokens, read page by page."""
        return each_of(
            lambda after: self.page(after=after, revoked=revoked, limit=PAGE), lambda token: token.id, full=PAGE
        )

    async def revoke(self, name: str) -> TokenView:
        """Revoke a token, given by its id or its name. It is refused from now on."""
        revoked = await self._storage.tokens.revoke(text(name, "name", InvalidInput))
        if revoked is None:
            known = [token.name for token in await self._storage.tokens.page(limit=SUGGESTIONS)]
            raise NotFound("token", name, known=known)
        return self._view(revoked)

    async def verify(self, secret: str) -> Principal | None:
        """Return who has this token. None: it does not exist, has expired or was revoked.

        This is one look-up by its id. A text that is no token is not looked up.
        """
        token_id = token_id_of(secret)
        token = None if token_id is None else await self._storage.tokens.get(token_id)
        if token is None or not hmac.compare_digest(token.digest, token_digest(secret)):
            return None
        now = self._clock.now()
        if _state(token, now) != "active":
            return None
        await self._save_use(token, now)
        return Principal(
            kind=PrincipalKind.TOKEN,
            name=token.name,
            role=None if token.role is None else Role(token.role),
            scopes=frozenset(map(parse_scope, token.scopes)),
        )

    async def record_refusal(self, secret: str, address: str) -> None:
        """Record in the audit trail that a token was refused. The entry has its id, if it is one of Foliot, and never
        its text. After some failures an address is refused before it comes so far, so the trail cannot be flooded."""
        refused = ChangeRecord(
            AuditAction.REFUSE, AuditKind.TOKEN, token_id_of(secret) or "unknown", None, {"address": address}
        )
        try:
            await self._storage.acting_as(SYSTEM).audit.add([refused])
        except StorageError as error:
            # The answer is the same: the token is refused.
            log.warning("refusal_not_recorded", extra={"error": error.message})

    async def _save_use(self, token: StoredToken, now: Instant) -> None:
        if needs_use_saved(token.last_used_at, now):
            try:
                await self._storage.tokens.save_use(token.id)
            except StorageError as error:
                # A database that can only be read at the moment must not lock out people who look for the reason.
                log.warning("token_use_not_saved", extra={"token": token.name, "error": error.message})

    def _view(self, token: StoredToken) -> TokenView:
        return TokenView(
            id=token.id,
            name=token.name,
            prefix=f"{TOKEN_PREFIX}{token.id}",
            role=token.role,
            scopes=token.scopes,
            state=_state(token, self._clock.now()),
            created_at=to_datetime(token.created_at),
            created_by=token.created_by,
            expires_at=moment(token.expires_at),
            last_used_at=moment(token.last_used_at),
            revoked_at=moment(token.revoked_at),
        )


def _state(token: StoredToken, now: Instant) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "active" if token.expires_at is None or now < token.expires_at else "expired"


def _expiry(expires: Moment | None, now: Instant) -> Instant | None:
    at = optional_instant(expires, "expires")
    if at is not None and at <= now:
        raise InvalidInput("expires has passed", hint="Give a later time.", field="expires")
    return at
