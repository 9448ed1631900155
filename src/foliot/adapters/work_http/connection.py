"""Sends messages to a server, signed or with a token. Redirects are not followed."""

import secrets
import time
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import aiohttp
import msgspec
from yarl import URL

from foliot import errors
from foliot.adapters.work_http.server import Server
from foliot.domain.access.signature import (
    NONCE_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    WORKER_HEADER,
    SignedRequest,
    signature_of,
)
from foliot.domain.work.message import PROTOCOL, PROTOCOL_HEADER
from foliot.errors import FoliotError, RequestRefused, StorageUnavailable

T = TypeVar("T")
_TIMEOUT: Final = 30.0
_CONNECT: Final = 10.0
_CLASSES: Final[Mapping[str, type[FoliotError]]] = {
    kind.code: kind
    for name in errors.__all__
    if isinstance(kind := getattr(errors, name), type) and issubclass(kind, errors.WorkerRefused)
}


class _Detail(msgspec.Struct):
    code: str = ""
    message: str = ""
    hint: str = ""


class _Refusal(msgspec.Struct):
    error: _Detail


_REFUSAL: Final = msgspec.json.Decoder(_Refusal)
_ENCODER: Final = msgspec.json.Encoder()


class Connection:
    """Connections to one server, on the event loop that creates it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session = aiohttp.ClientSession(
            headers={"User-Agent": "foliot-worker", PROTOCOL_HEADER: str(PROTOCOL)},
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(ssl=server.tls()),
        )

    async def send(self, name: str, message: msgspec.Struct, kind: type[T], *, wait: float = 0.0) -> T | None:
        """Send a message and return the answer; None if it is empty.

        StorageUnavailable: the server could not be reached, or cannot answer at the moment. Any other error: it has
        refused the message.
        """
        path, body = f"/api/workers/{name}", _ENCODER.encode(message)
        timeout = aiohttp.ClientTimeout(total=_TIMEOUT + wait, sock_connect=_CONNECT)
        url = URL(self._server.url + path, encoded=True)
        problem: FoliotError
        # An error of aiohttp may contain the headers of the request, and with them a token: it is not chained.
        try:
            async with self._session.post(
                url, data=body, headers=self._headers(path, body), timeout=timeout, allow_redirects=False
            ) as answer:
                content = await answer.read()
                status, location = answer.status, answer.headers.get("Location", "")
        except (aiohttp.ClientError, OSError) as error:
            problem = self._unreachable(error)
        else:
            if 200 <= status < 300:
                return _decoded(content, kind) if content else None
            problem = _refusal(status, content, location)
        raise problem

    async def close(self) -> None:
        await self._session.close()

    def _headers(self, path: str, body: bytes) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        server = self._server
        if server.token:
            return {**headers, "Authorization": f"Bearer {server.token}"}
        if not server.secret:
            return headers
        moment, nonce = int(time.time()), secrets.token_hex(16)
        request = SignedRequest("POST", server.path + path, "", body, moment, nonce)
        return {
            **headers,
            WORKER_HEADER: server.worker_id,
            TIMESTAMP_HEADER: str(moment),
            NONCE_HEADER: nonce,
            SIGNATURE_HEADER: signature_of(request, server.secret),
        }

    def _unreachable(self, error: Exception) -> FoliotError:
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return RequestRefused(
                f"the certificate of {self._server.url} is not trusted",
                hint="Give the file of its authority with --tls-ca.",
                code="certificate",
            )
        return StorageUnavailable(
            f"the server at {self._server.url} could not be reached: {_fact(error)}",
            hint="Check that foliot serve runs there, and the address.",
        )


def _decoded(content: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise StorageUnavailable(
            f"the answer of the server cannot be read: {str(error)[:200]}",
            hint="Use the same version of Foliot for the worker and the server, and check the address.",
        ) from None


def _refusal(status: int, content: bytes, location: str) -> FoliotError:
    try:
        detail = _REFUSAL.decode(content).error
    except msgspec.MsgspecError:
        detail = _foreign_answer(status, location)
    if status >= 500 or status == 429:
        return StorageUnavailable(detail.message, hint=detail.hint)
    kind = _CLASSES.get(detail.code)
    if kind is None:
        return RequestRefused(detail.message, hint=detail.hint, code=detail.code, status=status)
    error = kind.__new__(kind, detail.message)
    vars(error).update({"message": detail.message, "hint": detail.hint})
    return error


def _foreign_answer(status: int, location: str) -> _Detail:
    """Return what to do about an answer that Foliot has not written, for example that of a proxy."""
    base = location.partition("/api/workers/")[0]
    if 300 <= status < 400 and base.startswith(("http://", "https://")) and base.isprintable():
        return _Detail(message="the server redirects to another address", hint=f"Use that address: {base[:200]}")
    message = f"the answer has status {status} and was not written by Foliot"
    return _Detail(message=message, hint="Check the address, and that a proxy in between passes /api/workers on.")


def _fact(error: Any) -> str:
    """Return what went wrong, without anything of the request."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    cause = getattr(error, "os_error", error)
    return str(getattr(cause, "strerror", None) or type(error).__name__)
