"""Waking whoever waits, in this process and in the others.

A commit rings for its own process at once. The others hear it by NOTIFY, sent after the commit on a connection of the
bell's own: a NOTIFY inside every transaction would make commits queue up. The first ring is told at once. After it the
bell is quiet for a moment, a longer one the more it is rung, so that many commits are told in few words. A bell that
cannot reach the server keeps trying; meanwhile the others find the work by polling.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final
from uuid import uuid4

import asyncpg

from foliot.adapters.storage.postgres.trouble import BROKEN, READ_ONLY
from foliot.ports.topic import Topic

log = logging.getLogger(__name__)

Connect = Callable[[], Awaitable["asyncpg.Connection[Any]"]]

_SHORTEST_QUIET: Final = 0.005
_LONGEST_QUIET: Final = 0.05
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 10.0


class Bell:
    """One event per topic. `run` keeps a connection that listens and tells."""

    def __init__(self, channel: str, connect: Connect) -> None:
        self._channel = channel
        self._connect = connect
        self._name = uuid4().hex
        self._signals = {topic: asyncio.Event() for topic in Topic}
        self._untold: set[Topic] = set()
        self._rings = 0
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def signal(self, topic: Topic) -> asyncio.Event:
        return self._signals[topic]

    def ring(self, topics: Collection[Topic]) -> None:
        """Wake those who wait here, and soon those elsewhere."""
        for topic in topics:
            self._signals[topic].set()
        if topics:
            self._rings += 1
            self._untold.update(topics)
            self._wake.set()

    async def start(self) -> None:
        """Return when the bell listens, or when it has found that it has to wait for that."""
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
            except READ_ONLY as error:
                # A standby has no bell. Nobody can write there, so nobody has anything to tell.
                log.info("bell_has_no_connection", extra={"error": str(error), "pause": pause})
            except (*BROKEN, asyncpg.PostgresError) as error:
                # Nobody is lost without the bell, only slower to wake: it is worth a line in the log, not a stop.
                log.warning("bell_has_no_connection", extra={"error": str(error), "pause": pause})
            tried.set()
            pause = next_pause(pause, self._elapsed() - began)
            await asyncio.sleep(pause)

    def _elapsed(self) -> float:
        return asyncio.get_running_loop().time()

    async def _serve(self, tried: asyncio.Event) -> None:
        connection = await self._connect()
        try:
            connection.add_termination_listener(lambda _: self._wake.set())
            await connection.add_listener(self._channel, self._hear)
            if tried.is_set():
                self._ring_all()
            tried.set()
            quiet = _SHORTEST_QUIET
            while not connection.is_closed():
                await self._tell(connection)
                await asyncio.sleep(quiet)
                quiet = next_quiet(quiet, self._rings)
                await self._wake.wait()
        finally:
            connection.terminate()

    async def _tell(self, connection: "asyncpg.Connection[Any]") -> None:
        self._wake.clear()
        self._rings = 0
        topics, self._untold = self._untold, set()
        for topic in topics:
            await connection.execute("SELECT pg_notify($1, $2)", self._channel, f"{topic.value} {self._name}")

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        topic, _, sender = str(payload).partition(" ")
        if sender != self._name and topic in self._signals:
            self._signals[Topic(topic)].set()

    def _ring_all(self) -> None:
        """What was said while nobody listened is not known: better look once too often."""
        for signal in self._signals.values():
            signal.set()


def next_quiet(quiet: float, rings: int) -> float:
    """How long to be quiet after the next word, when there were so many rings in the last quiet."""
    return min(2 * quiet, _LONGEST_QUIET) if rings > 1 else _SHORTEST_QUIET


def next_pause(pause: float, lasted: float) -> float:
    """How long to wait before the next connection, when there was one, or the attempt at one, for so long.

    Only one that lasted is a good sign: a server may let in and then refuse.
    """
    return _FIRST_PAUSE if lasted > _LONGEST_PAUSE else min(pause * 2, _LONGEST_PAUSE)
