"""Who makes a request, and which requests are refused before they reach a route.

Without credentials in the database, a server on a loopback address is in development mode: every request from this
machine is allowed. A web page in a browser on this machine can send such requests too, so that in this mode the Host
must be a loopback name, and a change must be JSON that no other site has sent.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final, Protocol
from urllib.parse import urlsplit

from foliot.domain.access.principal import DEVELOPMENT, Principal
from foliot.interfaces.api.errors import ApiError
from foliot.interfaces.api.reading import check_media_type

CHANGES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
MODE_HEADER: Final = "X-Foliot-Mode"
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?")
_OWN_SITES: Final = ("same-origin", "none")


class Authenticator(Protocol):
    """Finds the principal of a request."""

    async def is_open(self) -> bool:
        """Return whether requests need no credentials: development mode."""
        ...

    async def authenticate(self, headers: Mapping[str, str], address: str) -> Principal | None:
        """Return the principal of a request; None if its credentials are missing or wrong. Raise ApiError to refuse it
        in another way, for example after too many failures."""
        ...


class DevelopmentAccess:
    """Allows everything to requests from this machine."""

    async def is_open(self) -> bool:
        return True

    async def authenticate(self, headers: Mapping[str, str], address: str) -> Principal | None:
        return DEVELOPMENT


class NoAccess:
    """Refuses every request: there are no credentials yet, and this is not development mode."""

    async def is_open(self) -> bool:
        return False

    async def authenticate(self, headers: Mapping[str, str], address: str) -> Principal | None:
        return None


def is_loopback(host: str) -> bool:
    """Return whether an address to listen on can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_host(headers: Mapping[str, str], allowed: frozenset[str] | None) -> None:
    """Refuse a request for another host. `allowed`: the names of this server; None: development mode."""
    given = headers.get("host", "")
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


def check_open_change(headers: Mapping[str, str]) -> None:
    """Refuse a change in development mode that a page of another site could have sent."""
    check_media_type(headers)
    host = headers.get("host", "").lower()
    check_origin(headers, frozenset({f"http://{host}", f"https://{host}"}))


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
