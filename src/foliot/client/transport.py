"""Sends requests to a server, again if the connection was lost or the server asks for it, and decodes the answers."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from importlib import import_module
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import msgspec

from foliot.client.address import Address, Tls
from foliot.client.failures import decode_error, failure
from foliot.client.frames import Frame, read_frames
from foliot.client.request import Request
from foliot.client.retry import pause_after, retry_pause
from foliot.errors import FoliotError, ServerUnavailable, WrongLoop

if TYPE_CHECKING:
    from foliot.client.http import Http

Answer = TypeVar("Answer")
Pause = Callable[[float], Awaitable[None]]
_JSON: Final = "application/json"
_EVENT_STREAM: Final = "text/event-stream"


class Transport:
    """The connection of a client. It opens with the first request, on the event loop of that request."""

    def __init__(
        self, address: Address, tls: Tls, *, timeout: float, retries: int, pause: Pause = asyncio.sleep
    ) -> None:
        self._address = address
        self._tls = tls
        self._timeout = timeout
        self._retries = retries
        self._pause = pause
        self._http: Http | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def send(self, request: Request[Answer]) -> Answer:
        """Send a request until it has a final answer, and return that. Raise the error of a refusal."""
        http, headers = await self._open(), _headers(request)
        failures = 0
        while True:
            failures += 1
            problem: FoliotError
            pause: float | None
            try:
                answer = await http.send(request.method, request.path, headers, request.body)
            except ServerUnavailable as error:
                problem, pause = _lost(error, request), pause_after(failures)
            else:
                if 200 <= answer.status < 300:
                    return cast(Answer, _decoded(answer.content, request.kind))
                detail = decode_error(answer.content)
                problem = failure(answer.status, request.path, answer.headers, detail)
                pause = retry_pause(answer.status, problem.code, answer.headers, failures)
            if pause is None or failures > self._retries or not request.is_repeatable:
                raise problem
            await self._pause(pause)

    async def follow(self, path: str, last_id: str = "") -> AsyncGenerator[Frame, None]:
        """Yield the frames of a stream. It begins again after the last frame when its connection is lost, as often as
        needed if there were frames or comments in between; the caller ends it."""
        http = await self._open()
        failures = 0
        while True:
            failures += 1
            pause: float | None = pause_after(failures)
            headers = {"Accept": _EVENT_STREAM} | ({"Last-Event-ID": last_id} if last_id else {})
            try:
                async with http.stream(path, headers) as opened:
                    if opened.status == 200:
                        async for frame in read_frames(opened.lines):
                            failures = 1  # its end is the first
                            if frame is not None:
                                last_id = frame.id or last_id
                                yield frame
                        problem: FoliotError = _ended()
                    else:
                        content = b"".join([line async for line in opened.lines])
                        problem = failure(opened.status, path, opened.headers, decode_error(content))
                        pause = retry_pause(opened.status, problem.code, opened.headers, failures)
            except ServerUnavailable as error:
                problem = error
            if pause is None or failures > self._retries:
                raise problem
            await self._pause(pause)

    async def close(self) -> None:
        http, self._http, self._loop = self._http, None, None
        if http is not None:
            await http.close()

    async def _open(self) -> "Http":
        loop = asyncio.get_running_loop()
        if self._http is not None and self._loop is not loop:
            raise WrongLoop(
                "the client is open on another event loop",
                hint="Make a client for each event loop, or close this one there with: await client.close()",
            )
        if self._http is None:
            kind: type[Http] = (await asyncio.to_thread(import_module, "foliot.client.http")).Http
            if self._loop is None:  # another task may have opened it meanwhile
                self._http, self._loop = kind(self._address, self._tls, self._timeout), loop
        return cast("Http", self._http)


def _headers(request: Request[Any]) -> dict[str, str]:
    headers = {"Accept": _JSON, **request.headers}
    if request.method != "GET":
        headers["Content-Type"] = _JSON
    if request.is_keyed:
        headers["Idempotency-Key"] = token_hex(16)
    if request.revision is not None:
        headers["If-Match"] = f'"{request.revision}"'
    return headers


def _decoded(content: bytes, kind: Any) -> Any:
    if kind is bytes:
        return content
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise ServerUnavailable(
            f"the answer of the server cannot be read: {str(error)[:200]}",
            hint="Use the same version of Foliot for the client and the server, and check the address.",
        ) from None


def _lost(error: ServerUnavailable, request: Request[Any]) -> ServerUnavailable:
    if error.was_sent and not request.is_repeatable:
        error.hint = "The change may have been made. Read it again before you repeat it."
    return error


def _ended() -> ServerUnavailable:
    return ServerUnavailable(
        "the server has ended the stream", hint="It may have been stopped. Follow it again when it runs."
    )
