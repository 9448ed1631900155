"""The run channel of a worker on a Unix socket.

    /tmp/foliot-channel-RANDOM/     0711    only we create files in it, any user may pass
        socket                      0666    $FOLIOT_CHANNEL; any user may connect, the token is the guard
        manifest-RANDOM             0644    $FOLIOT_MANIFEST of a reducer, see `adapters.manifest`

Jobs may run as another user, so the permissions of the socket cannot be the guard. A request must contain the token of
an attempt that runs now; all others are answered with an error, and their connection is closed.

A job cannot slow down the worker: lines, connections and requests per second are limited. The connection that was idle
for the longest time is closed for a new one, so that idle connections never keep a job from reporting.
"""

import asyncio
import logging
import os
import secrets
import shutil
import socket
import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from hmac import compare_digest
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from foliot.adapters.manifest import written_file
from foliot.channel.protocol import (
    FAILED,
    INVALID,
    MALFORMED,
    MAX_LINE,
    PATH_VARIABLE,
    TOKEN_VARIABLE,
    URL_VARIABLE,
    VERSION,
    WRONG_TOKEN,
    WRONG_TYPE,
    WRONG_VERSION,
)
from foliot.domain.access.run_token import RunLease
from foliot.domain.ids import Token
from foliot.errors import FoliotError, InvalidInput, shown, suggest
from foliot.ports.channel import Handler

log = logging.getLogger(__name__)

MAX_CONNECTIONS: Final = 32
RATE: Final = 1_000
"""Requests per second of one attempt. More are not refused, but read more slowly."""
_BURST: Final = 1.0
"""Seconds of requests at the full rate that are answered without a delay."""
_DIGITS: Final = 20
_PREFIX: Final = "foliot-channel-"
_NAME: Final = "socket"
_END_LIMIT: Final = 1.0
"""Seconds to wait for connections that are being closed."""
_ACCEPT_TURNS: Final = 5
_ONE_LINE: Final = 'Send one line, for example: {"version":1,"token":"...","type":"progress","fraction":0.4}'

Answer = dict[str, Any]


class RunAccess(NamedTuple):
    """What the processes of an attempt need to send the same requests by HTTP."""

    url: str
    token_of: Callable[[RunLease], str | None]
    """Makes the token of an attempt. None: there is no key."""


class UnixChannel:
    """Fills `ports.channel.RunChannel`."""

    def __init__(self, access: RunAccess | None = None, *, parents: tuple[str, ...] = ()) -> None:
        self._access = access
        self._parents = parents
        self._path: Path | None = None
        self._server: asyncio.Server | None = None
        self._grants: dict[Token, _Grant] = {}
        self._connections: dict[asyncio.StreamWriter, asyncio.Task[Any] | None] = {}
        """Open connections, the one that was idle for the longest time first."""

    async def open(self) -> None:
        try:
            listener, path = await asyncio.to_thread(_listen, self._parents or _usual_parents())
            self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=MAX_LINE)
        except OSError as error:
            log.warning("channel_not_opened", extra={"error": str(error)})
            return
        self._path = path
        await asyncio.to_thread(_sweep, path)

    def grant(self, lease: RunLease, handlers: Mapping[str, Handler]) -> Mapping[str, str]:
        if lease.token not in self._grants:
            shared = None if self._access is None else self._access.token_of(lease)
            text = shared or f"{lease.token}.{secrets.token_urlsafe(24)}"
            url = self._access.url if self._access is not None and shared is not None else ""
            self._grants[lease.token] = _Grant(text, url, handlers)
        grant = self._grants[lease.token]
        addresses = {PATH_VARIABLE: "" if self._path is None else str(self._path), URL_VARIABLE: grant.url}
        known = {name: value for name, value in addresses.items() if value}
        return {**known, TOKEN_VARIABLE: grant.token} if known else {}

    def revoke(self, lease: Token) -> None:
        self._grants.pop(lease, None)

    @asynccontextmanager
    async def publish(self, pages: AsyncIterator[bytes]) -> AsyncIterator[str | None]:
        if self._path is None:
            yield None
            return
        async with written_file(self._path.parent, pages) as path:
            yield str(path)

    async def close(self) -> None:
        path, self._path = self._path, None
        if self._server is not None:
            self._server.close()
            # A connection that was accepted a moment ago becomes known after a few turns of the event loop.
            for _ in range(_ACCEPT_TURNS):
                await asyncio.sleep(0)
        tasks = [task for task in self._connections.values() if task is not None]
        for writer in self._connections:
            writer.transport.abort()
        if tasks:
            await asyncio.wait(tasks, timeout=_END_LIMIT)
        if path is not None:
            await asyncio.to_thread(shutil.rmtree, path.parent, ignore_errors=True)

    # -- connections

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._make_room()
        self._connections[writer] = asyncio.current_task()
        try:
            # A connection that was broken or closed for another one needs no answer.
            with suppress(OSError):
                while await self._answer_next(reader, writer) and writer in self._connections:
                    self._connections[writer] = self._connections.pop(writer)
        finally:
            self._connections.pop(writer, None)
            writer.close()

    def _make_room(self) -> None:
        if len(self._connections) >= MAX_CONNECTIONS:
            idle = next(iter(self._connections))
            del self._connections[idle]
            idle.transport.abort()

    async def _answer_next(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request. Return False if the connection must be closed."""
        try:
            line = await reader.readline()
        except ValueError:
            line, answer = b"", _refusal(MALFORMED, f"the request has more than {MAX_LINE} bytes", _ONE_LINE)
        else:
            if not line:
                return False
            answer = await self._answer(line)
        writer.write(msgspec.json.encode({"version": VERSION, **answer}) + b"\n")
        await writer.drain()
        return bool(line) and answer.get("code") not in (MALFORMED, WRONG_TOKEN)

    async def _answer(self, line: bytes) -> Answer:
        try:
            request = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            return _refusal(MALFORMED, f"the request is not JSON: {error}", _ONE_LINE)
        if not isinstance(request, dict):
            return _refusal(MALFORMED, "the request is not a JSON object", _ONE_LINE)
        if request.get("version") != VERSION:
            wrong = shown(request.get("version"))
            return _refusal(WRONG_VERSION, f"version {wrong} is not supported", f'Send "version":{VERSION}.')
        grant = self._find_grant(request.get("token"))
        if grant is None:
            return _refusal(
                WRONG_TOKEN,
                "the token belongs to no attempt that runs on this worker",
                f"Send the value of {TOKEN_VARIABLE}. It is valid until the attempt ends.",
            )
        await grant.slow_down(asyncio.get_running_loop().time())
        return await _handle(grant.handlers, request)

    def _find_grant(self, token: object) -> "_Grant | None":
        if not isinstance(token, str):
            return None
        number = token.partition(".")[0]
        # The number of the lease is no secret. It finds the token, which is compared in constant time.
        is_number = len(number) < _DIGITS and number.isascii() and number.isdigit()
        grant = self._grants.get(Token(int(number))) if is_number else None
        if grant is None or not compare_digest(token.encode(errors="replace"), grant.token.encode()):
            return None
        return grant


class _Grant:
    """The access of one attempt."""

    def __init__(self, token: str, url: str, handlers: Mapping[str, Handler]) -> None:
        self.token = token
        self.url = url
        self.handlers = handlers
        self._free_at = 0.0

    async def slow_down(self, now: float) -> None:
        """Wait if the attempt has sent more requests than `RATE` allows, after a burst."""
        self._free_at = max(self._free_at, now - _BURST) + 1 / RATE
        if self._free_at > now:
            await asyncio.sleep(self._free_at - now)


async def _handle(handlers: Mapping[str, Handler], request: Mapping[str, Any]) -> Answer:
    kind = request.get("type")
    handler = handlers.get(kind) if isinstance(kind, str) else None
    if handler is None:
        hint = suggest(str(kind), handlers, otherwise=f"This worker knows: {', '.join(sorted(handlers))}.")
        return _refusal(WRONG_TYPE, f"requests of type {shown(kind)} are not supported", hint)
    try:
        return {"ok": True, **await handler(request)}
    except InvalidInput as error:
        return _refusal(INVALID, error.message, error.hint)
    except FoliotError as error:
        return _refusal(FAILED, error.message, error.hint)


def _refusal(code: str, error: str, hint: str) -> Answer:
    return {"ok": False, "code": code, "error": error, "hint": hint}


# -- the socket


def _usual_parents() -> tuple[str, ...]:
    """Return directories for the socket, best first. A private directory is worse: other users cannot pass it."""
    return tuple(sorted(dict.fromkeys((tempfile.gettempdir(), "/tmp")), key=_is_private))  # noqa: S108


def _is_private(directory: str) -> bool:
    try:
        return not all(place.stat().st_mode & stat.S_IXOTH for place in (Path(directory), *Path(directory).parents))
    except OSError:
        return True


def _listen(parents: tuple[str, ...]) -> tuple[socket.socket, Path]:
    """Listen in the first of these directories that is possible: the path of a socket has about 100 bytes at most."""
    failure: OSError = FileNotFoundError("there is no directory for the socket")
    for parent in parents:
        try:
            return _listen_in(parent)
        except OSError as error:
            failure = error
    raise failure


def _listen_in(parent: str) -> tuple[socket.socket, Path]:
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(directory / f"new-{_NAME}"))
        listener.listen(socket.SOMAXCONN)
        (directory / f"new-{_NAME}").chmod(0o666)
        directory.chmod(0o711)
        # The final name exists only while the socket is served, see `_sweep`.
        return listener, (directory / f"new-{_NAME}").rename(directory / _NAME)
    except BaseException:
        listener.close()
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _sweep(own: Path) -> None:
    """Remove the directories that killed workers of this user have left beside ours."""
    with suppress(OSError), os.scandir(own.parent.parent) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name != own.parent.name and _is_left(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_left(entry: os.DirEntry[str]) -> bool:
    try:
        if not entry.is_dir(follow_symlinks=False) or entry.stat(follow_symlinks=False).st_uid != os.geteuid():
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(_END_LIMIT)
            probe.connect(str(Path(entry.path) / _NAME))
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False
