"""A minimal transaction pooler: a server connection is assigned for one transaction at a time.

It parses only as much of the protocol as is needed to find the end of a transaction. Consecutive transactions of a
client use different sessions on purpose: a real pooler does this to clients that rely on session state.
"""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

_SSL_REQUEST = 80877103


class Session(NamedTuple):
    """One connection to the server, and the server's first messages on it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    greeting: bytes


class TransactionPooler:
    """Listens on its own Unix socket. Every transaction uses another session than the one before."""

    def __init__(self, server: Path, directory: Path, sessions: int = 3) -> None:
        self._server = server
        self._path = directory / ".s.PGSQL.5432"
        self._count = sessions
        self._free: asyncio.Queue[Session] = asyncio.Queue()
        self._opened = 0
        self._clients: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None
        self.lent = 0

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_unix_server(self._accept, self._path)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._listener is not None
        self._listener.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        while not self._free.empty():
            self._free.get_nowait().writer.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        with suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            await self._serve(reader, writer)
        writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        startup = await _startup(reader, writer)
        while self._opened < self._count:
            self._opened += 1
            self._free.put_nowait(await self._open(startup))
        session = await self._free.get()
        writer.write(session.greeting)
        self._free.put_nowait(session)
        while True:
            first = await _message(reader)
            if first[:1] == b"X":
                return
            session = await self._free.get()
            self.lent += 1
            await _forward_transaction(session, first, reader, writer)
            self._free.put_nowait(session)

    async def _open(self, startup: bytes) -> Session:
        reader, writer = await asyncio.open_unix_connection(self._server)
        writer.write(startup)
        greeting = b""
        while not greeting.endswith(b"Z\x00\x00\x00\x05I"):
            greeting += await _message(reader)
        return Session(reader, writer, greeting)


async def _startup(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    while True:
        head = await reader.readexactly(4)
        body = await reader.readexactly(int.from_bytes(head) - 4)
        if int.from_bytes(body[:4]) != _SSL_REQUEST:
            return head + body
        writer.write(b"N")


async def _message(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(5)
    return head + await reader.readexactly(int.from_bytes(head[1:]) - 4)


async def _forward_transaction(
    session: Session, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Forward messages until the server reports the end of the transaction."""
    states: asyncio.Queue[bytes] = asyncio.Queue()
    answers = asyncio.create_task(_forward_replies(session, writer, states))
    try:
        message = first
        while True:
            session.writer.write(message)
            if message[:1] in (b"S", b"Q") and await states.get() == b"I":
                return
            message = await _message(reader)
    finally:
        answers.cancel()


async def _forward_replies(session: Session, writer: asyncio.StreamWriter, states: asyncio.Queue[bytes]) -> None:
    while True:
        message = await _message(session.reader)
        writer.write(message)
        if message[:1] == b"Z":
            states.put_nowait(message[5:6])
