"""Wakes waiting loops, in this process and in others.

A commit sets the events of its own process immediately. Other processes get a NOTIFY, sent after the commit on a
separate connection: a NOTIFY inside every transaction would make commits queue up. The first one is sent immediately.
After it the bell pauses, longer the more often it is rung, so that many commits need few messages. A bell that cannot
reach the server keeps trying; meanwhile other processes find the work by polling.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final
from uuid import uuid4

import asyncpg

from foliot.adapters.storage.postgres.database.errors import BROKEN, READ_ONLY
from foliot.adapters.storage.shared.signals import Signals
from foliot.ports.topic import Topic

log = logging.getLogger(__name__)

Connect = Callable[[], Awaitable["asyncpg.Connection[Any]"]]

_TOPICS: Final = frozenset(Topic)
_SHORTEST_QUIET: Final = 0.005
_LONGEST_QUIET: Final = 0.05
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 10.0
_LEVELS: Final = (
    (asyncpg.TooManyConnectionsError, logging.WARNING),
    (READ_ONLY, logging.INFO),  # a standby has no NOTIFY, and no commit to announce
    (BROKEN, logging.DEBUG),
)
"""The level for each kind of error; any other is a warning."""


class Bell(Signals):
    """One event per topic, and a task that keeps a connection to listen and notify."""

    def __init__(self, channel: str, connect: Connect) -> None:
        super().__init__()
        self._channel = channel
        self._connect = connect
        self._name = uuid4().hex
        self._unsent: set[Topic] = set()
        self._rings = 0
        self._reported = ""
        """The error that was logged last."""
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def ring(self, topics: Collection[Topic]) -> None:
        """Wake loops that wait for these topics: in this process now, in other processes soon."""
        self.ring_here(topics)
        if topics:
            self._rings += 1
            self._unsent.update(topics)
            self._wake.set()

    async def start(self) -> None:
        """Return when the bell listens, or has failed to reach the server."""
        tried = asyncio.Event()
        self._task = asyncio.create_task(self._run(tried), name="foliot-bell")
        await tried.wait()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, tried: asyncio.Event) -> None:
        pause = _FIRST_PAUSE
        while True:
            began = self._elapsed()
            try:
                await self._serve(tried)
            except (*BROKEN, asyncpg.PostgresError) as error:
                self._report(error, pause, self._elapsed() - began)
            tried.set()
            pause = next_pause(pause, self._elapsed() - began)
            await asyncio.sleep(pause)

    def _report(self, error: Exception, pause: float, lasted: float) -> None:
        """Log an error, at its level only once until the bell has worked for a while.

        Without the bell, loops only wake later, so a warning is enough. An unreachable server is an outage, which the
        loops report.
        """
        level = next((level for kinds, level in _LEVELS if isinstance(error, kinds)), logging.WARNING)
        is_new = str(error) != self._reported or lasted > _LONGEST_PAUSE
        self._reported = str(error)
        facts = {"error": str(error), "pause": pause}
        log.log(level if is_new else logging.DEBUG, "bell_has_no_connection", extra=facts)

    def _elapsed(self) -> float:
        return asyncio.get_running_loop().time()

    async def _serve(self, tried: asyncio.Event) -> None:
        connection = await self._connect()
        try:
            connection.add_termination_listener(lambda _: self._wake.set())
            await connection.add_listener(self._channel, self._receive)
            if tried.is_set():
                # Notifications sent while disconnected are lost, so each loop polls once.
                self.ring_here(tuple(Topic))
            tried.set()
            quiet = _SHORTEST_QUIET
            while not connection.is_closed():
                await self._notify(connection)
                await asyncio.sleep(quiet)
                quiet = next_quiet(quiet, self._rings)
                await self._wake.wait()
        finally:
            connection.terminate()

    async def _notify(self, connection: "asyncpg.Connection[Any]") -> None:
        self._wake.clear()
        self._rings = 0
        topics, self._unsent = self._unsent, set()
        for topic in topics:
            await connection.execute("SELECT pg_notify($1, $2)", self._channel, f"{topic.value} {self._name}")

    def _receive(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        topic, _, sender = str(payload).partition(" ")
        if sender != self._name and topic in _TOPICS:
            self.ring_here((Topic(topic),))


def next_quiet(quiet: float, rings: int) -> float:
    """Return the pause after the next message, given the number of rings in the last pause."""
    return min(2 * quiet, _LONGEST_QUIET) if rings > 1 else _SHORTEST_QUIET


def next_pause(pause: float, lasted: float) -> float:
    """Return the pause before the next connection, given how long the last one, or the attempt, lasted.

    Only a connection that lasted resets the pause: a server may accept a connection and then close it.
    """
    return _FIRST_PAUSE if lasted > _LONGEST_PAUSE else min(pause * 2, _LONGEST_PAUSE)
