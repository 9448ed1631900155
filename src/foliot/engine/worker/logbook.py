"""Carries what attempts print to the log store while they run.

Writers hand over bytes without waiting; one write is under way at a time. When more than a few megabytes wait, writers
that ask (`drain`) are held back, so that a slow disk slows the job instead of filling the memory. Nobody is held back
for ever: a log that gets no room for half a minute drops what follows and says so.

A log that was used ends with a closing line (`domain.run.logs`). One that was not costs nothing.
"""

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from functools import cached_property
from threading import get_ident
from typing import Final

from msgspec import Struct

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import Claim
from foliot.domain.run.logs import Closing, LogChunk, Stream, closing_line
from foliot.engine.loop import AT_ONCE
from foliot.ports.clock import Clock
from foliot.ports.work import Work

log = logging.getLogger(__name__)

BATCH: Final = 1_000
ROOM: Final = 4 << 20
LONGEST_HOLD: Final = Millis(30 * SECOND)


class LogBook:
    """The duty that saves log chunks."""

    name = "logbook"

    def __init__(self, work: Work, clock: Clock) -> None:
        self._work = work
        self._clock = clock
        self._waiting: list[LogChunk] = []
        self._bytes = 0
        self._unsaved: Counter[Token] = Counter()
        self._stale: set[Token] = set()
        self.wake = asyncio.Event()
        self._moved = asyncio.Event()

    @cached_property
    def home(self) -> tuple[asyncio.AbstractEventLoop, int]:
        """The loop that saves, and its thread. Looked up with the first log and kept: each look is a system call."""
        return asyncio.get_running_loop(), get_ident()

    def open(self, claim: Claim) -> "RunLog":
        return RunLog(self, self.home, claim.run_id, claim.token)

    async def round(self) -> Millis | None:
        batch = self._waiting[:BATCH]
        if batch:
            stale = await self._work.append_log(batch)
            self._forget(batch, set(stale))
        return AT_ONCE if self._waiting else None

    def _forget(self, batch: list[LogChunk], stale: set[Token]) -> None:
        del self._waiting[: len(batch)]
        self._bytes -= sum(len(chunk.data) for chunk in batch)
        self._unsaved.subtract(chunk.token for chunk in batch if chunk.token in self._unsaved)
        self._stale |= stale & self._unsaved.keys()
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    # -- what a RunLog asks for

    def put(self, run_id: RunId, token: Token, seq: int, stream: Stream, data: bytes) -> None:
        self._waiting.append(LogChunk(run_id, token, seq, self._clock.now(), stream, data))
        self._bytes += len(data)
        self._unsaved[token] += 1
        self.wake.set()

    @property
    def has_room(self) -> bool:
        return self._bytes < ROOM

    def is_stale(self, token: Token) -> bool:
        return token in self._stale

    async def wait_for_room(self) -> bool:
        """True when there is room; False when half a minute brought none."""
        until = self._clock.elapsed() + LONGEST_HOLD
        while not self.has_room:
            left = until - self._clock.elapsed()
            if left <= 0:
                return False
            await self._clock.wait(self._moved, Millis(left))
        return True

    async def close(self, token: Token) -> None:
        """Return when everything this attempt printed is saved, or cannot be in time, and forget about it."""
        until = self._clock.elapsed() + LONGEST_HOLD
        while self._unsaved[token] > 0 and until > self._clock.elapsed():
            await self._clock.wait(self._moved, Millis(until - self._clock.elapsed()))
        if self._unsaved[token] > 0:
            log.error("log_incomplete", extra={"token": token, "chunks_unsaved": self._unsaved[token]})
        del self._unsaved[token]
        self._stale.discard(token)


class RunLog(Struct, eq=False, gc=False):
    """The log of one attempt, open from claim to finish. Threads may write to it as well."""

    _book: LogBook
    _home: tuple[asyncio.AbstractEventLoop, int]
    _run_id: RunId
    _token: Token
    _seq: int = 0
    _printed: int = 0
    _dropped: int = 0
    _truncation: Closing | None = None
    _is_dropping: bool = False
    _is_sealed: bool = False

    def write(self, stream: Stream, data: bytes) -> None:
        loop, thread = self._home
        if get_ident() == thread:
            self._put(stream, data)
        else:
            # A thread that was given up may still print when the loop is gone: nobody is left to read it.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._put, stream, data)

    def truncated(self, seen: int, stored: int) -> None:
        self._truncation = Closing(seen, stored)

    def _put(self, stream: Stream, data: bytes) -> None:
        if self._is_sealed:
            return
        size = 0 if stream == "meta" else len(data)
        self._printed += size
        if self._is_dropping:
            self._dropped += size
        else:
            self._add(stream, data)

    def _add(self, stream: Stream, data: bytes) -> None:
        if data and not self._book.is_stale(self._token):
            self._book.put(self._run_id, self._token, self._seq, stream, data)
            self._seq += 1

    async def drain(self) -> None:
        if self._is_dropping or self._book.has_room:
            return
        if not await self._book.wait_for_room():
            self._add("meta", b"the log store took nothing for 30 s: the rest of this output is dropped\n")
            self._is_dropping = True

    def seal(self, *, is_lost: bool = False) -> bool:
        """Take nothing more. A log that was used says so, unless its attempt is not ours any more. Whether it was."""
        is_used = self._seq > 0
        if is_used and not self._is_sealed and not is_lost:
            self._add("meta", closing_line(self._closing()))
        self._is_sealed = True
        return is_used

    def _closing(self) -> Closing:
        seen, stored = self._truncation or (self._printed, self._printed)
        return Closing(seen, max(0, (stored or 0) - self._dropped))

    async def saved(self) -> None:
        """Return when all of it is saved, or half a minute was not enough."""
        await self._book.close(self._token)
