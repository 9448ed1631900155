"""How a client connects: the arguments of `AsyncClient` and `Client`."""

import asyncio
from typing import TypedDict

from foliot.client.address import Tls, read_address
from foliot.client.transport import Pause, Transport
from foliot.domain.input.timing import Span, millis
from foliot.domain.instant import SECOND
from foliot.errors import InvalidInput


class ConnectionOptions(TypedDict, total=False):
    timeout: Span
    """The longest time for one request with its answer, by default 30 seconds. Streams have no limit."""
    retries: int
    """How often a request is sent again after the first time, by default 5."""
    tls_ca: str
    """A PEM file: trust only servers with a certificate of these authorities."""
    tls_cert: str
    """A PEM file with the certificate of this client."""
    tls_key: str
    """A PEM file with its key, if the key is not in the file of the certificate."""
    allow_http: bool
    """Send the token over plain HTTP also to other machines."""


def build_transport(
    url: str | None,
    token: str | None,
    *,
    timeout: Span = 30.0,
    retries: int = 5,
    tls_ca: str = "",
    tls_cert: str = "",
    tls_key: str = "",
    allow_http: bool = False,
    pause: Pause = asyncio.sleep,
) -> tuple[str, Transport]:
    """Return the address of the server and the connection to it, which is not open yet."""
    longest = millis(timeout, "timeout")
    if longest <= 0:
        raise InvalidInput("timeout must be positive", hint="Give seconds, such as 30.", field="timeout")
    if not 0 <= retries <= 100:
        raise InvalidInput("retries must be from 0 to 100", hint="0 sends each request once.", field="retries")
    address = read_address(url, token, allow_http=allow_http)
    tls = Tls(ca=tls_ca, cert=tls_cert, key=tls_key)
    return address.url, Transport(address, tls, timeout=longest / SECOND, retries=retries, pause=pause)
