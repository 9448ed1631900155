"""Sends requests, each over a connection of its own, to addresses that the guard has admitted."""

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
from foliot.adapters.outbound.dns import LookUp, SystemNames
from foliot.adapters.outbound.errors import KNOWN, describe
from foliot.adapters.outbound.guard import CONNECT, Guard
from foliot.adapters.outbound.interim import BoundedResponse
from foliot.adapters.outbound.sockets import Pinned, Sockets
from foliot.domain.outbound.policy import OutboundPolicy
from foliot.domain.outbound.request import REDIRECTS, Request, defaulted, redirected
from foliot.domain.outbound.url import Url, resolve
from foliot.errors import InvalidInput, OutboundBlocked, OutboundFailed

_DEFAULTS: Final = {"User-Agent": f"foliot/{version('foliot')}", "Accept-Encoding": "identity"}


class Answer:
    """What came back: status and headers are here, the body is still on its way."""

    def __init__(self, url: Url, response: ClientResponse) -> None:
        self.url = url
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._decoder = decoder_for(self.headers.get("Content-Encoding", ""))
        self.is_cut = False
        """Whether reading stopped because more was sent than was to be taken."""

    @property
    def is_decoded(self) -> bool:
        """Whether `pieces` are what the server meant; if not, they are compressed in a way we do not know."""
        return self._decoder is not None

    async def pieces(self, most: int) -> AsyncGenerator[bytes]:
        """The body, decompressed, in pieces of 64 KiB at most. Who stops reading stops the transfer.

        No more than `most` bytes are taken as they are sent, whatever they stand for: compressed nothing has no end.
        """
        decoder = self._decoder or decoder_for("identity")
        assert decoder is not None
        received = 0
        async for data in self._response.content.iter_any():
            received += len(data)
            if received > most:
                self.is_cut = True
                return
            for piece in decoder.feed(data):
                if piece:
                    yield piece
                # A kilobyte may stand for a megabyte, or for nothing: others must get their turn in between.
                await asyncio.sleep(0)
        decoder.finish()


class Outbound:
    """Carries out requests under one policy, any number at once. Nothing is kept from one to the next."""

    def __init__(self, policy: OutboundPolicy, *, look_up: LookUp | None = None, connect: float = CONNECT) -> None:
        self._guard = Guard(policy, look_up or SystemNames())
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
        is_answer: Callable[[int], bool] = lambda status: False,
        on_send: Callable[[Request, int | None], None] = lambda request, status: None,
    ) -> AsyncIterator[Answer]:
        """Send a request, follow so many redirects, and give the answer for as long as the block lasts.

        A redirect is followed unless `is_answer` says that its status is what was wanted. The answer to one redirect
        too many is that redirect. `on_send` is told of each request, and of the status that redirected to it.
        OutboundBlocked and OutboundFailed say why there is no answer.
        """
        status: int | None = None
        while True:
            on_send(request, status)
            async with self._hop(request, verify) as answer:
                location = answer.headers.get("Location")
                if redirects == 0 or location is None or answer.status not in REDIRECTS or is_answer(answer.status):
                    yield answer
                    return
                status = answer.status
                request = redirected(request, status, _target(answer.url, location))
                redirects -= 1

    @asynccontextmanager
    async def _hop(self, request: Request, verify: bool) -> AsyncIterator[Answer]:
        """One request and its answer."""
        addresses = await self._guard.admit(request.url, self._connect)
        trust = await self._trust(request.url, verify)
        sockets = Sockets(addresses)
        answer: Answer | None = None
        try:
            async with self._session(sockets, trust) as session, _send(session, request) as response:
                answer = Answer(request.url, response)
                yield answer
        except KNOWN as error:
            if sockets.has_refused:
                raise OutboundBlocked("the connection would lead elsewhere than what was checked") from None
            status = answer.status if answer is not None else None
            raise OutboundFailed(describe(error, self._connect), status=status) from None
        finally:
            sockets.shut()

    async def _trust(self, url: Url, verify: bool) -> ssl.SSLContext:
        if not verify or url.scheme == "http":
            return self._trusting
        if self._verifying is None:
            # Reading the certificates of the system takes long: it is done once, beside the loop.
            self._verifying = await asyncio.to_thread(ssl.create_default_context)
        return self._verifying

    def _session(self, sockets: Sockets, trust: ssl.SSLContext) -> ClientSession:
        connector = TCPConnector(
            ssl=trust,
            resolver=Pinned(sockets.addresses),
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
        raise OutboundBlocked(f"the redirect cannot be followed: {error.message}") from None


def _trusting_context() -> ssl.SSLContext:
    """For requests that are not to be verified."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
