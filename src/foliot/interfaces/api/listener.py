"""The HTTP server: uvicorn on the event loop of the process, with sockets that are bound before anything starts."""

import asyncio
import errno
import logging
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from foliot.domain.defaults import DEFAULT_PORT
from foliot.errors import FoliotError, InvalidInput
from foliot.interfaces.api.access import SUBJECT
from foliot.interfaces.api.answer import encode
from foliot.interfaces.api.application import Application
from foliot.interfaces.api.call import Context
from foliot.interfaces.api.errors import ApiError, describe
from foliot.interfaces.api.reading import JSON
from foliot.interfaces.api.resources.all import ROUTES

log = logging.getLogger("foliot.api")

_GRACE: Final = 5
"""Seconds that requests may take to end when the server stops."""
_KEEP_ALIVE: Final = 30
_BACKLOG: Final = 1_024
_LARGEST_HEAD: Final = 1 << 16
"""Bytes of the URL and the headers of a request."""
_LONGEST_HEAD: Final = 30.0
"""Seconds until the headers of a request are complete, or a new connection sends any. Then it is closed."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where to listen."""

    host: str = "127.0.0.1"
    port: int | None = None
    """None: the default port. If that is in use, the server starts without the API."""
    base_path: str = ""
    tls_cert: str = ""
    """The file with the certificate of the server; empty: no TLS."""
    tls_key: str = ""
    tls_client_ca: str = ""
    """The file with the certificates that sign those of clients; empty: clients need none."""


class PortInUse(FoliotError):
    """Another process listens on the port."""

    code = "port_in_use"


class Listener:
    """An HTTP server that is bound. It answers after `start`."""

    def __init__(self, bound: socket.socket, address: Address) -> None:
        self._socket = bound
        self._address = address
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None
        self._context: Context | None = None

    @property
    def url(self) -> str:
        host, port = self._socket.getsockname()[:2]
        scheme = "https" if self._address.tls_cert else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{self._address.base_path}"

    @property
    def host(self) -> str:
        return self._address.host

    async def start(self, context: Context) -> None:
        """Answer requests from now on."""
        self._context = context
        self._server = _Server(_config(Application(ROUTES, context), self._address))
        self._task = asyncio.create_task(self._server.serve([self._socket]), name="http server")
        ready = asyncio.create_task(self._server.ready.wait())
        await asyncio.wait((ready, self._task), return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._task.done():
            self._task.result()

    async def stop(self) -> None:
        """End streams, let requests finish for a limited time, and close all connections."""
        if self._context is not None:
            self._context.closing.set()
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await asyncio.gather(self._task, return_exceptions=True)
        if self._context is not None:
            await self._context.metering.stop()
        self.close()

    def close(self) -> None:
        """Close the socket of a server that was not started, or has stopped."""
        self._socket.close()


class _Protocol(HttpToolsProtocol):
    """HTTP, with limits of headers, errors as JSON, and the subject of the client certificate in each scope."""

    _is_in_head = False
    _head = 0
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in its base class
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(_LONGEST_HEAD, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_in_head:
            self._head += len(data)
            if self._head > _LARGEST_HEAD:
                hint = f"Send at most {_LARGEST_HEAD} bytes of headers."
                error = ApiError(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large", "the headers are too large", hint=hint
                )
                self._refuse(error)
                return
        super().data_received(data)
        if not self._is_in_head:
            self._stop_head_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(_LONGEST_HEAD, self.transport.close)

    def send_400_response(self, msg: str) -> None:
        hint = "Check the request line, the headers and the length of the body; use a library for HTTP."
        message = "the request is not valid HTTP/1.1"
        self._refuse(ApiError(HTTPStatus.BAD_REQUEST, "invalid_request", message, hint=hint))

    def _refuse(self, error: ApiError) -> None:
        """Answer a request that does not reach the application, and close the connection."""
        status, body = describe(error, f"{random.getrandbits(64):016x}")
        content = encode(body)
        head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: {JSON}\r\nContent-Length: {len(content)}\r\n"
        self.transport.write(f"{head}Connection: close\r\n\r\n".encode() + content)
        self.transport.close()

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()

    def on_message_begin(self) -> None:
        self._is_in_head, self._head = True, 0
        super().on_message_begin()
        secured = self.transport.get_extra_info("ssl_object")
        certificate = None if secured is None else secured.getpeercert(binary_form=True)
        if certificate is not None:
            scope: dict[str, Any] = self.scope  # type: ignore[assignment]  # it has no entry for our own values
            scope[SUBJECT] = _subject(certificate)


def _subject(certificate: bytes) -> str:
    """Return the subject of a certificate as text: CN=deploy,O=Example."""
    # Loaded with the first certificate of a client.
    from cryptography.x509 import load_der_x509_certificate

    return load_der_x509_certificate(certificate).subject.rfc4514_string()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process, which stops everything in order."""
        yield


def bind(address: Address) -> Listener:
    """Bind a socket. PortInUse: another process has the port."""
    port = DEFAULT_PORT if address.port is None else address.port
    try:
        [(family, kind, protocol, _, place), *_] = socket.getaddrinfo(
            address.host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError:
        raise InvalidInput(
            f"host {address.host[:128]!a} is no address of this machine",
            hint="Use 127.0.0.1, or an address or a name of this machine.",
            field="host",
        ) from None
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
        bound.listen(_BACKLOG)
        bound.setblocking(False)
    except OSError as error:
        bound.close()
        raise _refusal(error, address.host, port) from None
    return Listener(bound, address)


def _refusal(error: OSError, host: str, port: int) -> FoliotError:
    if error.errno == errno.EADDRINUSE:
        hint = "Stop the process that uses it, or choose another port with --port, or start without the API: --no-api."
        return PortInUse(f"port {port} of {host} is in use", hint=hint)
    reason = error.strerror or str(error)
    return InvalidInput(
        f"cannot listen on {host[:128]} port {port}: {reason}", hint="Use another host or port.", field="host"
    )


def _config(application: Application, address: Address) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        # Its warnings are about requests of strangers, who could fill the log with them.
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
        ssl_certfile=address.tls_cert or None,
        ssl_keyfile=address.tls_key or None,
        ssl_ca_certs=address.tls_client_ca or None,
        ssl_cert_reqs=2 if address.tls_client_ca else 0,
    )
