"""Who makes a request, and which requests are refused before they reach a route.

Without credentials in the database, a server on a loopback address is in development mode: every request from this
machine is allowed. A web page in a browser on this machine can send such requests too, so that in this mode the Host
must be a loopback name, and a change must be JSON that no other site has sent.
"""

import re
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final, NamedTuple, Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from foliot.domain.access.claims import principal_of_subject
from foliot.domain.access.principal import DEVELOPMENT, Principal, run_principal
from foliot.domain.access.role import Role
from foliot.domain.access.token import TOKEN_PREFIX
from foliot.domain.instant import SECOND, Instant
from foliot.errors import RateLimited
from foliot.interfaces.api.errors import ApiError
from foliot.interfaces.api.reading import check_media_type
from foliot.service.services import Services

CHANGES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
MODE_HEADER: Final = "X-Foliot-Mode"
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?")
_OWN_SITES: Final = ("same-origin", "none")
_CHECK_INTERVAL: Final = 2.0
"""Seconds after which a server in development mode looks for credentials again."""
SUBJECT: Final = "foliot.subject"
"""The entry of an ASGI scope with the subject of the client certificate."""
SESSION_COOKIES: Final = ("__Host-foliot-session", "foliot-session")
"""The names of the cookie, with and without TLS."""


class Authenticator(Protocol):
    """Finds the principal of a request."""

    async def is_development(self) -> bool:
        """Return whether requests need no credentials: development mode."""
        ...

    def check_again(self) -> None:
        """Look for credentials with the next request: some may have been added."""
        ...

    async def authenticate(
        self, headers: Mapping[str, str], address: str, subject: str | None = None
    ) -> Principal | None:
        """Return the principal of a request; None if its credentials are missing or wrong. `subject`: that of the
        client certificate of the connection, if there is one. Raise an error to refuse the request in another way, for
        example after too many failures."""
        ...


class SignedCredentials(NamedTuple):
    """Credentials that are not stored: signed tokens of other services, and client certificates."""

    verify_token: Callable[[str, Instant], Principal | None] | None = None
    certificates: Mapping[str, Role] = {}
    """Subject -> role."""

    def __bool__(self) -> bool:
        return self.verify_token is not None or bool(self.certificates)


NOT_SIGNED: Final = SignedCredentials()


class StoredAccess:
    """Finds the principal of a token or a session in the database, of a signed token, or of a client certificate.

    Without any token, also a revoked one, without users and without signed credentials the server is in development
    mode if `may_be_development`; otherwise it refuses every request. After many wrong tokens from one address, tokens
    from there are refused for a while.
    """

    def __init__(self, services: Services, *, may_be_development: bool, signed: SignedCredentials = NOT_SIGNED) -> None:
        self._services = services
        self._signed = signed
        self._may_be_development = may_be_development
        self._checked_at: float | None = None

    async def has_credentials(self) -> bool:
        services = self._services
        if self._signed:
            return True
        return bool(await services.tokens.page(revoked=True, limit=1)) or bool(await services.users.all())

    async def is_development(self) -> bool:
        now = time.monotonic()
        if self._may_be_development and (self._checked_at is None or now > self._checked_at + _CHECK_INTERVAL):
            # Once there are credentials, the server is never in development mode again.
            self._may_be_development, self._checked_at = not await self.has_credentials(), now
        return self._may_be_development

    def check_again(self) -> None:
        self._checked_at = None

    async def authenticate(
        self, headers: Mapping[str, str], address: str, subject: str | None = None
    ) -> Principal | None:
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        lease = self._services.channel.lease_of(secret.strip()) if scheme.lower() == "bearer" else None
        if lease is not None:
            return run_principal(lease)
        if await self.is_development():
            return DEVELOPMENT
        if scheme:
            return await self._of_token(secret.strip(), address) if scheme.lower() == "bearer" else None
        session = session_of(headers)
        if session is not None:
            return await self._services.users.verify_session(session)
        return None if subject is None else principal_of_subject(subject, self._signed.certificates)

    async def _of_token(self, secret: str, address: str) -> Principal | None:
        failures, now = self._services.users.failures, self._services.clock.now()
        wait = failures.retry_after("", address, now)
        if wait is not None:
            raise RateLimited(wait / SECOND)
        principal = await self._services.tokens.verify(secret)
        if principal is None and self._signed.verify_token is not None and not secret.startswith(TOKEN_PREFIX):
            principal = self._signed.verify_token(secret, now)
        if principal is None:
            failures.fail("", address, now)
            await self._services.tokens.record_refusal(secret, address)
        return principal


def session_of(headers: Mapping[str, str]) -> str | None:
    """Return the id of the session in the cookie of a request."""
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name in SESSION_COOKIES and value:
            return value
    return None


def session_cookie(secret: str, seconds: int, *, is_secure: bool) -> str:
    """Return the header that stores a session in a browser, or with 0 seconds removes it."""
    name = SESSION_COOKIES[0] if is_secure else SESSION_COOKIES[1]
    secure = "; Secure" if is_secure else ""
    return f"{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"


def is_loopback(host: str) -> bool:
    """Return whether an address to listen on can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_host(headers: Headers, allowed: frozenset[str] | None) -> None:
    """Refuse a request for another host. `allowed`: the names of this server; None: development mode."""
    given = ", ".join(headers.getlist("host"))
    found = _HOST.fullmatch(given)
    names = _LOCAL if allowed is None else allowed
    if found is None or (names and found["name"].lower() not in names):
        raise ApiError(
            HTTPStatus.MISDIRECTED_REQUEST if found is not None else HTTPStatus.BAD_REQUEST,
            "wrong_host",
            f"this server is not {given[:64]!a}",
            hint="Call it as http://127.0.0.1 with its port."
            if allowed is None
            else "Set public_url in [server] to the address that clients use.",
        )


def check_origin(headers: Mapping[str, str], own: frozenset[str]) -> None:
    """Refuse a change that the page of another site has sent. `own`: the origins of this server."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    is_own = origin is None or origin.lower() in own
    if (site is not None and site not in _OWN_SITES) or not is_own:
        raise ApiError(
            HTTPStatus.FORBIDDEN,
            "csrf",
            "a page of another site may not change anything here",
            hint="Send the request from a program, or from a page of this server.",
        )


def check_session_change(headers: Mapping[str, str], own: frozenset[str]) -> None:
    """Refuse a change with a session that no page of this server has sent: a browser sends the cookie by itself."""
    check_media_type(headers)
    check_origin(headers, own)
    if "origin" not in headers and headers.get("sec-fetch-site") != "same-origin":
        raise ApiError(
            HTTPStatus.FORBIDDEN,
            "csrf",
            "a change with a session needs the header Origin",
            hint="Browsers send it. A program uses a token instead.",
        )


def check_development_change(headers: Mapping[str, str]) -> None:
    """Refuse a change in development mode that a page of another site could have sent."""
    check_media_type(headers)
    check_origin(headers, own_origins(headers, ""))


def own_origins(headers: Mapping[str, str], public_url: str) -> frozenset[str]:
    """Return the origins of pages of this server."""
    if public_url:
        parts = urlsplit(public_url)
        return frozenset({f"{parts.scheme}://{parts.netloc}".lower()})
    host = headers.get("host", "").lower()
    return frozenset({f"http://{host}", f"https://{host}"})


def host_names(public_url: str, host: str) -> frozenset[str]:
    """Return the names under which a server may be called; an empty set if they are not known."""
    if not public_url:
        return frozenset()
    name = urlsplit(public_url).hostname or ""
    public = f"[{name}]" if ":" in name else name.lower()
    return _LOCAL | {public, f"[{host}]" if ":" in host else host.lower()}


def unauthenticated() -> ApiError:
    return ApiError(
        HTTPStatus.UNAUTHORIZED,
        "unauthenticated",
        "the request has no valid credentials",
        hint="Send the header Authorization: Bearer TOKEN. Make a token with: foliot token create",
        headers={"WWW-Authenticate": 'Bearer realm="foliot"'},
    )


def forbidden(role: str) -> ApiError:
    return ApiError(
        HTTPStatus.FORBIDDEN, "forbidden", "your role does not allow this", hint=f"It needs the role {role}."
    )
