"""Saves the output of attempts while they run.

Writers add bytes without waiting; one write to the storage is in flight at a time. A little output is held back for a
moment, unless its attempt has ended, so that the log of a short run is one write. When more than a few megabytes are
buffered, `drain` blocks the writer, so that a slow disk slows the job instead of filling the memory. It blocks for half
a minute at most; then the log drops further output and records that it did.

A log that was written to ends with a closing line (`domain.run.logs`). A log without output costs no write.
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
from foliot.domain.run.output_mask import OutputMask
from foliot.engine.loop import IMMEDIATELY
from foliot.ports.clock import Clock
from foliot.ports.work import Work

log = logging.getLogger(__name__)

BATCH: Final = 1_000
BUFFER_SIZE: Final = 4 << 20
HOLD: Final = Millis(50)
MAX_HELD: Final = 64 << 10
"""How many bytes are held back at most."""
MAX_WAIT: Final = Millis(30 * SECOND)


class LogBook:
    """The duty that saves log chunks."""

    name = "logbook"

    def __init__(self, work: Work, clock: Clock, *, hold: Millis = HOLD) -> None:
        self.hold = hold
        """How long a little output waits for more."""
        self._work = work
        self._clock = clock
        self._waiting: list[LogChunk] = []
        self._bytes = 0
        self._held_since = Millis(0)
        self._is_flushing = False
        """Whether an attempt waits until its output is saved."""
        self._unsaved: Counter[Token] = Counter()
        self._stale: set[Token] = set()
        self.wake = asyncio.Event()
        self._saved = asyncio.Event()
        """Set, and replaced, when a batch has been saved."""

    @cached_property
    def home(self) -> tuple[asyncio.AbstractEventLoop, int]:
        """The event loop that saves, and its thread. Cached, because each lookup is a system call."""
        return asyncio.get_running_loop(), get_ident()

    def open(self, claim: Claim, mask: OutputMask | None = None) -> "RunLog":
        return RunLog(self, self.home, claim.run_id, claim.token, mask)

    async def round(self) -> Millis | None:
        if self._waiting and (left := self._hold_left()) > 0:
            return left
        batch = self._waiting[:BATCH]
        if batch:
            stale = await self._work.append_log(batch)
            self._drop_saved(batch, set(stale))
        return self._hold_left() if self._waiting else None

    def _hold_left(self) -> Millis:
        """Return how long the waiting output is still held back."""
        if self._is_flushing or self._bytes >= MAX_HELD:
            return IMMEDIATELY
        return Millis(max(0, self._held_since + self.hold - self._clock.elapsed()))

    def _drop_saved(self, batch: list[LogChunk], stale: set[Token]) -> None:
        del self._waiting[: len(batch)]
        if len(batch) < BATCH:
            self._held_since = self._clock.elapsed()  # what waits now arrived during the write
        self._bytes -= sum(len(chunk.data) for chunk in batch)
        self._unsaved.subtract(chunk.token for chunk in batch if chunk.token in self._unsaved)
        self._stale |= stale & self._unsaved.keys()
        self._is_flushing = self._is_flushing and bool(self._waiting)
        saved, self._saved = self._saved, asyncio.Event()
        saved.set()

    # -- called by RunLog

    def put(self, run_id: RunId, token: Token, seq: int, stream: Stream, data: bytes) -> None:
        if not self._waiting:
            self._held_since = self._clock.elapsed()
        self._waiting.append(LogChunk(run_id, token, seq, self._clock.now(), stream, data))
        self._bytes += len(data)
        self._unsaved[token] += 1
        if len(self._waiting) == 1 or self._bytes >= MAX_HELD:
            self.wake.set()

    @property
    def has_room(self) -> bool:
        return self._bytes < BUFFER_SIZE

    def is_stale(self, token: Token) -> bool:
        return token in self._stale

    async def wait_for_room(self) -> bool:
        """Wait until the buffer has room. Return False if it has none after `MAX_WAIT`."""
        until = self._clock.elapsed() + MAX_WAIT
        while not self.has_room:
            left = until - self._clock.elapsed()
            if left <= 0:
                return False
            await self._clock.wait(self._saved, Millis(left))
        return True

    async def close(self, token: Token) -> None:
        """Wait until the output of this attempt is saved, at most `MAX_WAIT`, and drop its counters."""
        if self._unsaved[token] > 0:
            self._is_flushing = True
            self.wake.set()
        until = self._clock.elapsed() + MAX_WAIT
        while self._unsaved[token] > 0 and until > self._clock.elapsed():
            await self._clock.wait(self._saved, Millis(until - self._clock.elapsed()))
        if self._unsaved[token] > 0:
            log.error("log_flush_timed_out", extra={"token": token, "chunks_unsaved": self._unsaved[token]})
        del self._unsaved[token]
        self._stale.discard(token)


class RunLog(Struct, eq=False, gc=False):
    """The log of one attempt, open from claim to finish. Other threads may write to it."""

    _book: LogBook
    _home: tuple[asyncio.AbstractEventLoop, int]
    _run_id: RunId
    _token: Token
    _mask: OutputMask | None = None
    """None: the job has no secrets."""
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
            # An abandoned thread may still print after the loop was closed; its output is dropped.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._put, stream, data)

    def truncated(self, seen: int, stored: int) -> None:
        self._truncation = Closing(seen, stored)

    def add_secret(self, secret: str) -> None:
        """Mask this secret too in what the attempt prints."""
        if self._mask is None:
            self._mask = OutputMask()
        self._mask.add(secret)

    def masked(self, text: str) -> str:
        """Return a text about the attempt without its secrets."""
        return text if self._mask is None else self._mask.text(text)

    def _put(self, stream: Stream, data: bytes) -> None:
        if self._is_sealed:
            return
        if self._mask is not None and stream != "meta":
            data = self._mask.write(stream, data)
        self._store(stream, data)

    def _store(self, stream: Stream, data: bytes) -> None:
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
            self._add("meta", b"the log could not be saved for 30 s: the rest of this output is dropped\n")
            self._is_dropping = True

    def seal(self, *, is_lost: bool = False) -> bool:
        """Refuse further output and add the closing line, unless the log is empty or the lease is lost. Return whether
        the log has output."""
        if self._mask is not None and not self._is_sealed:
            for stream, data in self._mask.end():
                self._store(stream, data)
        is_used = self._seq > 0
        if is_used and not self._is_sealed and not is_lost:
            self._add("meta", closing_line(self._closing()))
        self._is_sealed = True
        return is_used

    def _closing(self) -> Closing:
        seen, stored = self._truncation or (self._printed, self._printed)
        return Closing(seen, max(0, (stored or 0) - self._dropped))

    async def wait_saved(self) -> None:
        """Wait until the whole log is saved, at most `MAX_WAIT`."""
        await self._book.close(self._token)
