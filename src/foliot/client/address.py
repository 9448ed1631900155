"""Where a client sends its requests, and with which token. A token is sent over plain HTTP to this machine only."""

import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from foliot.errors import InvalidInput

DEFAULT_URL: Final = "http://127.0.0.1:7070"
"""The address of `foliot serve` without other settings."""
URL_VARIABLE: Final = "FOLIOT_URL"
TOKEN_VARIABLE: Final = "FOLIOT_TOKEN"  # noqa: S105 - the name of a variable
HTTP_VARIABLE: Final = "FOLIOT_ALLOW_HTTP"
"""1: send the token over plain HTTP also to other machines."""
_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,8192}")


@dataclass(frozen=True, kw_only=True)
class Tls:
    """The files that TLS needs besides the authorities that this machine trusts."""

    ca: str = ""
    """Trust the certificates of these authorities only."""
    cert: str = ""
    """The certificate of the client, for servers with `tls_client_ca`."""
    key: str = ""
    """Its key. By default it is in the file of the certificate."""

    def context(self) -> ssl.SSLContext:
        if self.key and not self.cert:
            raise InvalidInput(
                "tls_key needs tls_cert", hint="Give the certificate of the client too.", field="tls_key"
            )
        try:
            context = ssl.create_default_context(cafile=self.ca or None)
            if self.cert:
                context.load_cert_chain(self.cert, self.key or None)
        except OSError as error:
            fact = error.strerror or type(error).__name__
            raise InvalidInput(
                f"the files for TLS cannot be used: {fact}",
                hint="Give PEM files that this process may read.",
                field="tls_ca" if self.ca else "tls_cert",
            ) from error
        return context


@dataclass(frozen=True, kw_only=True)
class Address:
    """The server of a client. Its text never contains the token."""

    url: str
    """Without a slash at the end; with the base path of the server."""
    token: str | None = field(default=None, repr=False)

    @property
    def is_secure(self) -> bool:
        return self.url.startswith("https:")


def read_address(
    url: str | None, token: str | None, *, allow_http: bool = False, environ: Mapping[str, str] | None = None
) -> Address:
    """Return the given address, or that of FOLIOT_URL and FOLIOT_TOKEN."""
    variables = os.environ if environ is None else environ
    given = url or variables.get(URL_VARIABLE) or DEFAULT_URL
    token = token or variables.get(TOKEN_VARIABLE) or None
    address = Address(url=_checked_url(given), token=token)
    if token is None:
        return address
    if _TOKEN.fullmatch(token) is None:
        raise InvalidInput(
            "the token has characters that no token has", hint="Copy it again, without spaces.", field="token"
        )
    allow_http = allow_http or variables.get(HTTP_VARIABLE) == "1"
    if not (address.is_secure or allow_http or _is_loopback(urlsplit(given).hostname or "")):
        raise InvalidInput(
            "the token would be sent over plain HTTP, where others can read it",
            hint="Use an https:// address, or allow it in a network that you trust with allow_http=True or "
            "FOLIOT_ALLOW_HTTP=1.",
            field="url",
        )
    return address


def _checked_url(given: str) -> str:
    try:
        parts = urlsplit(given)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_usable = False
    if not is_usable or not given.isascii() or not given.isprintable() or " " in given:
        raise _wrong_url("the address of the server is not a URL")
    if parts.username is not None or parts.password is not None:
        raise _wrong_url("the address of the server contains a name or a password")
    if parts.query or parts.fragment:
        raise _wrong_url("the address of the server has a query or a fragment")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")


def _wrong_url(message: str) -> InvalidInput:
    hint = f"Use an address such as {DEFAULT_URL}. A token is not part of it: set FOLIOT_TOKEN."
    return InvalidInput(message, hint=hint, field="url")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
