"""Sends requests, each over a new connection, to addresses that the guard has admitted."""

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Final

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from yarl import URL

from foliot.adapters.outbound.decoder import decoder_for
from foliot.adapters.outbound.dns import LookUp, SystemResolver
from foliot.adapters.outbound.errors import KNOWN, describe
from foliot.adapters.outbound.guard import CONNECT, Guard
from foliot.adapters.outbound.interim import BoundedResponse
from foliot.adapters.outbound.sockets import PinnedResolver, Sockets
from foliot.domain.outbound.policy import OutboundPolicy
from foliot.domain.outbound.request import REDIRECTS, Request, defaulted, redirected
from foliot.domain.outbound.url import Url, resolve
from foliot.errors import InvalidInput, OutboundBlocked, OutboundFailed

_DEFAULTS: Final = {"User-Agent": f"foliot/{version('foliot')}", "Accept-Encoding": "identity"}


class Response:
    """A response. Status and headers have been received, the body has not."""

    def __init__(self, url: Url, response: ClientResponse) -> None:
        self.url = url
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._decoder = decoder_for(self.headers.get("Content-Encoding", ""))
        self.is_cut = False
        """Whether reading stopped at the limit."""

    @property
    def is_decoded(self) -> bool:
        """Whether `pieces` are decompressed; False if the content encoding is not supported."""
        return self._decoder is not None

    async def pieces(self, limit: int) -> AsyncGenerator[bytes]:
        """Yield the body, decompressed, in pieces of 64 KiB at most. Closing the generator stops the transfer.

        At most `limit` bytes are received, counted before decompression: compressed data that expands to nothing could
        be endless.
        """
        decoder = self._decoder or decoder_for("identity")
        assert decoder is not None
        received = 0
        async for data in self._response.content.iter_any():
            received += len(data)
            if received > limit:
                self.is_cut = True
                return
            for piece in decoder.feed(data):
                if piece:
                    yield piece
                # A kilobyte may expand to a megabyte, or to nothing: let other tasks run in between.
                await asyncio.sleep(0)
        decoder.finish()


class Outbound:
    """Sends requests under one policy, any number at once. Requests share no state."""

    def __init__(self, policy: OutboundPolicy, *, look_up: LookUp | None = None, connect: float = CONNECT) -> None:
        self._guard = Guard(policy, look_up or SystemResolver())
        self._connect = connect
        self._verifying: ssl.SSLContext | None = None
        self._trusting = _trusting_context()

    @asynccontextmanager
    async def exchange(
        self,
        request: Request,
        *,
        redirects: int = 0,
        verify: bool = True,
        is_final: Callable[[int], bool] = lambda status: False,
        on_send: Callable[[Request, int | None], None] = lambda request, status: None,
    ) -> AsyncIterator[Response]:
        """Send a request, follow up to `redirects` redirects, and yield the response, which is closed after the block.

        A redirect is not followed if `is_final` returns True for its status. After too many redirects, the response is
        the last redirect. `on_send` is called with each request and the status that redirected to it. Raises
        OutboundBlocked or OutboundFailed.
        """
        status: int | None = None
        while True:
            on_send(request, status)
            async with self._hop(request, verify) as response:
                location = response.headers.get("Location")
                if redirects == 0 or location is None or response.status not in REDIRECTS or is_final(response.status):
                    yield response
                    return
                status = response.status
                request = redirected(request, status, _target(response.url, location))
                redirects -= 1

    @asynccontextmanager
    async def _hop(self, request: Request, verify: bool) -> AsyncIterator[Response]:
        """Send one request and yield its response."""
        addresses = await self._guard.admit(request.url, self._connect)
        trust = await self._trust(request.url, verify)
        sockets = Sockets(addresses)
        response: Response | None = None
        try:
            async with self._session(sockets, trust) as session, _send(session, request) as received:
                response = Response(request.url, received)
                yield response
        except KNOWN as error:
            if sockets.has_refused:
                raise OutboundBlocked("the connection would use an address that was not checked") from None
            status = response.status if response is not None else None
            raise OutboundFailed(describe(error, self._connect), status=status) from None
        finally:
            sockets.shut()

    async def _trust(self, url: Url, verify: bool) -> ssl.SSLContext:
        if not verify or url.scheme == "http":
            return self._trusting
        if self._verifying is None:
            # Reading the certificates of the system takes long, so it is done once, in a thread.
            self._verifying = await asyncio.to_thread(ssl.create_default_context)
        return self._verifying

    def _session(self, sockets: Sockets, trust: ssl.SSLContext) -> ClientSession:
        connector = TCPConnector(
            ssl=trust,
            resolver=PinnedResolver(sockets.addresses),
            use_dns_cache=False,
            socket_factory=sockets.make,
            force_close=True,
        )
        return ClientSession(
            connector=connector,
            cookie_jar=DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            response_class=BoundedResponse,
            skip_auto_headers=("Content-Type", "User-Agent"),
            timeout=ClientTimeout(total=None, connect=self._connect),
        )


def _send(session: ClientSession, request: Request) -> Any:
    headers = defaulted(request.headers, _DEFAULTS)
    if request.url.credentials is not None:
        headers["Authorization"] = _basic(*request.url.credentials)
    return session.request(
        request.method,
        URL(str(request.url), encoded=True),
        headers=headers,
        data=request.body,
        allow_redirects=False,
    )


def _basic(user: str, password: str) -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def _target(url: Url, location: str) -> Url:
    try:
        return resolve(url, location)
    except InvalidInput as error:
        raise OutboundBlocked(f"cannot follow the redirect: {error.message}") from None


def _trusting_context() -> ssl.SSLContext:
    """Return the TLS context for requests with verify = false."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
