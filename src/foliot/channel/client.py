"""The client of the run channel, for programs inside a job. It needs only variables of the environment."""

import json
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

from foliot.channel.protocol import INVALID, MAX_ANSWER, PATH_VARIABLE, TOKEN_VARIABLE, URL_VARIABLE, VERSION
from foliot.errors import ChannelRefused, ChannelUnavailable, InvalidInput

TIMEOUT: Final = 5.0
"""Seconds to wait for a worker that does not answer."""
_RECEIVED: Final = 65_536
_OUTSIDE: Final = "Call this inside a job: a worker sets it for the processes of each run."


class Asker(Protocol):
    """Sends requests about the run of this process."""

    def ask(self, kind: str, **fields: object) -> Mapping[str, Any]: ...

    def close(self) -> None: ...


def from_environment(environ: Mapping[str, str], *, timeout: float = TIMEOUT) -> Asker:
    """Return the client for the job that this process belongs to: of the socket of the worker or, where there is none,
    of the server. Raises ChannelUnavailable outside of a job."""
    url = environ.get(URL_VARIABLE, "")
    for name in (TOKEN_VARIABLE,) if url else (PATH_VARIABLE, TOKEN_VARIABLE):
        if not environ.get(name):
            raise ChannelUnavailable(f"this process is not part of a job: {name} is not set", hint=_OUTSIDE)
    path = environ.get(PATH_VARIABLE, "")
    # In a container the variable may name a path that only exists outside.
    if url and not Path(path).is_socket():
        from foliot.channel.http_client import HttpChannelClient

        return HttpChannelClient(url, environ[TOKEN_VARIABLE], timeout=timeout)
    return ChannelClient(path, environ[TOKEN_VARIABLE], timeout=timeout)


class ChannelClient:
    """Sends requests, and keeps its connection for the next one."""

    def __init__(self, path: str, token: str, *, timeout: float = TIMEOUT) -> None:
        self._path = path
        self._token = token
        self._timeout = timeout
        self._socket: socket.socket | None = None

    def ask(self, kind: str, **fields: object) -> Mapping[str, Any]:
        """Send a request and return the answer. Raises InvalidInput, ChannelRefused or ChannelUnavailable."""
        request = {"version": VERSION, "token": self._token, "type": kind, **fields}
        return _read(self._exchange(json.dumps(request, allow_nan=False).encode() + b"\n"))

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _exchange(self, line: bytes) -> bytes:
        try:
            if self._socket is not None:
                # The worker may have closed the connection since the last request.
                with suppress(ConnectionError):
                    return self._send(self._socket, line)
            return self._send(self._connect(), line)
        except OSError as error:
            self.close()
            why = "it does not answer" if isinstance(error, TimeoutError) else (error.strerror or str(error)).lower()
            raise ChannelUnavailable(
                f"could not reach the worker of this run: {why}",
                hint=f"Has the run ended? Otherwise make the path in {PATH_VARIABLE} available to this process.",
            ) from None

    def _connect(self) -> socket.socket:
        self.close()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(self._timeout)
        self._socket.connect(self._path)
        return self._socket

    def _send(self, connection: socket.socket, line: bytes) -> bytes:
        connection.sendall(line)
        received = bytearray()
        while not received.endswith(b"\n"):
            piece = connection.recv(_RECEIVED)
            if not piece or len(received) > MAX_ANSWER:
                raise ConnectionError("the connection was closed without an answer")
            received += piece
        return bytes(received)


def _read(line: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise ChannelUnavailable("the answer of the worker is not JSON", hint=f"Does {PATH_VARIABLE} name its socket?")
    if answer.get("ok") is True:
        return answer
    message, hint = str(answer.get("error")), str(answer.get("hint", ""))
    if answer.get("code") == INVALID:
        raise InvalidInput(message, hint=hint)
    raise ChannelRefused(message, hint=hint)
