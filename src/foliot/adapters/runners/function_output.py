"""The output of one function that runs in this process, on its way to the log of its run.

    print, logging, current_run().log --write--> pending --flush, on the event loop--> log
                                            |
                                            a thread waits here after each 64 KiB, until the log has room

The writes of one turn of the event loop become one chunk, or several if the stream changes. A coroutine cannot wait
while it prints: what it prints is bounded by the cap alone.
"""

import asyncio
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from threading import Event, RLock, get_ident
from typing import Final

from msgspec import Struct

from foliot.domain.job.kinds.process import OUTPUT_CAP
from foliot.domain.run.logs import Stream
from foliot.ports.runner import LogSink

Home = tuple[asyncio.AbstractEventLoop, int]
"""The event loop that a function was started on, and the thread of that loop."""

_DRAIN_EVERY: Final = 65_536
_MAX_WAIT: Final = 30.0
"""Seconds that a thread waits for room in the log. Not for ever: the event loop may be waiting for the thread."""
_LOCK: Final = RLock()
"""One lock for all outputs, because creating one for each run would cost more than is saved. Reentrant, because a
signal handler or a destructor may print during a write."""


class FunctionOutput(Struct, eq=False, gc=False):
    """Takes output from any thread until it is closed. Stores the first 4 MiB of an attempt and counts the rest."""

    log: LogSink
    home: Home
    run_id: str
    is_echoed: bool = False
    """Whether the output goes to the streams of this process as well."""
    _is_open: bool = True
    _pending: list[tuple[Stream, bytes]] | None = None
    """The output that the next flush writes. None: no flush is scheduled."""
    _total: int = 0
    _undrained: int = 0
    _drain: asyncio.Task[None] | None = None
    _waiting: tuple[Event, ...] = ()
    """Set when the log has room again: one event for each thread that waits."""

    @property
    def is_open(self) -> bool:
        return self._is_open

    def write(self, stream: Stream, data: bytes) -> bool:
        """Add bytes to the log. Return False if the attempt has ended: the bytes are not part of it."""
        room = None
        with _LOCK:
            if not self._is_open:
                return False
            kept = data[: max(OUTPUT_CAP - self._total, 0)]
            self._total += len(data)
            if kept:
                self._undrained += len(kept)
                if self._undrained >= _DRAIN_EVERY and get_ident() != self.home[1]:
                    room = Event()
                    self._waiting += (room,)
                self._add(stream, kept)
        if room is not None:
            room.wait(_MAX_WAIT)
        return True

    def close(self) -> None:
        """Write what is pending, and refuse further output. Called on the event loop."""
        self._is_open = False
        if self._total:
            self._flush()
            self._release_threads()
            if self._total > OUTPUT_CAP:
                self.log.truncated(self._total, OUTPUT_CAP)

    def _add(self, stream: Stream, data: bytes) -> None:
        if self._pending is not None:
            self._pending.append((stream, data))
            return
        self._pending = [(stream, data)]
        loop, thread = self.home
        if get_ident() == thread:
            loop.call_soon(self._flush)
        else:
            # The loop is closed if an abandoned thread prints after the worker has stopped.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._flush)

    def _flush(self) -> None:
        with _LOCK:
            pending, self._pending = self._pending or (), None
            for stream, pieces in groupby(pending, itemgetter(0)):
                self.log.write(stream, b"".join([data for _, data in pieces]))
        if self._undrained >= _DRAIN_EVERY and self._drain is None and self._is_open:
            self._drain = self.home[0].create_task(self._drain_log())

    async def _drain_log(self) -> None:
        self._undrained = 0
        try:
            await self.log.drain()
        finally:
            self._drain = None
            self._release_threads()

    def _release_threads(self) -> None:
        with _LOCK:
            waiting, self._waiting = self._waiting, ()
        for room in waiting:
            room.set()
