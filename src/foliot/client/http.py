"""HTTP by aiohttp. It is loaded by the first request, because the import takes a while.

Redirects are not followed, and cookies and proxies of the environment are not used: the token goes to one server only.
"""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, NamedTuple

import aiohttp
from yarl import URL

from foliot.client.address import Address, Tls
from foliot.errors import FoliotError, RequestRefused, ServerUnavailable

_CONNECT: Final = 10.0
_SILENCE: Final = 60.0
"""A stream without any byte for so long is broken: servers send a comment every 15 seconds."""
_AGENT: Final = "foliot-client"


class RawAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: bytes


class RawStream(NamedTuple):
    status: int
    headers: Mapping[str, str]
    lines: AsyncIterator[bytes]


class Http:
    """A pool of connections to one server, on the event loop that creates it."""

    def __init__(self, address: Address, tls: Tls, timeout: float) -> None:
        self._url = address.url
        self._whole = aiohttp.ClientTimeout(total=timeout, sock_connect=min(timeout, _CONNECT))
        self._open_ended = aiohttp.ClientTimeout(total=None, sock_connect=min(timeout, _CONNECT), sock_read=_SILENCE)
        headers = {"User-Agent": _AGENT}
        if address.token is not None:
            headers["Authorization"] = f"Bearer {address.token}"
        trusted: ssl.SSLContext | bool = tls.context() if address.is_secure else True
        self._session = aiohttp.ClientSession(
            headers=headers, cookie_jar=aiohttp.DummyCookieJar(), connector=aiohttp.TCPConnector(ssl=trusted)
        )
        # aiohttp would send PUT and DELETE again if the connection is lost before the answer. It has no public option.
        self._session._retry_connection = False

    async def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> RawAnswer:
        """Send a request and read the whole answer. Raise ServerUnavailable if that is not possible."""
        async with self._begun(method, path, headers, self._whole, body) as answer:
            return RawAnswer(answer.status, answer.headers, await answer.read())

    @asynccontextmanager
    async def stream(self, path: str, headers: Mapping[str, str]) -> AsyncIterator[RawStream]:
        """Begin to read an answer that may never end."""
        async with self._begun("GET", path, headers, self._open_ended) as answer:
            yield RawStream(answer.status, answer.headers, _lines(answer.content))

    async def close(self) -> None:
        await self._session.close()

    @asynccontextmanager
    async def _begun(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - limits of aiohttp
        body: bytes | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        url = URL(self._url + path, encoded=True)
        problem: FoliotError | None = None
        # The error of aiohttp may contain the headers of the request, and with them the token: it is not chained.
        try:
            async with self._session.request(
                method, url, headers=headers, data=body, timeout=timeout, allow_redirects=False
            ) as answer:
                yield answer
        except (aiohttp.ClientError, OSError) as error:
            problem = self._problem(error)
        if problem is not None:
            raise problem

    def _problem(self, error: Exception) -> FoliotError:
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return RequestRefused(
                f"the certificate of {self._url} is not trusted",
                hint="Give the file of its authority with tls_ca.",
                code="certificate",
            )
        problem = ServerUnavailable(
            f"the server at {self._url} could not be reached: {_fact(error)}",
            hint="Check that foliot serve runs, and that FOLIOT_URL is its address.",
        )
        problem.was_sent = not isinstance(error, aiohttp.ClientConnectorError)
        return problem


def _fact(error: Any) -> str:
    """Return what went wrong, without anything of the request."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    cause = getattr(error, "os_error", error)
    with suppress(AttributeError):
        if cause.strerror:
            return str(cause.strerror)
    return type(error).__name__


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield lines of any length."""
    rest = b""
    async for part in content.iter_any():
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line
