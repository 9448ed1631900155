"""The log of a run: numbered chunks of each attempt, and how to recognize that a log is complete.

An attempt that printed anything ends with a closing line in the stream `meta`. Only Foliot writes that stream, so a
job cannot forge it. A log without a closing line was cut off: its worker was lost, or chunks could not be saved.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant

Stream = Literal["stdout", "stderr", "meta"]

_COMPLETE: Final = b"end of log: complete\n"
_TRUNCATED: Final = re.compile(rb"end of log: truncated, (\d+) of (\d+) bytes kept\n")


class LogChunk(NamedTuple):
    """Bytes as they were printed. `seq` counts from 0 within (run, token), so that two attempts never mix."""

    run_id: RunId
    token: Token
    seq: int
    at: Instant
    stream: Stream
    data: bytes


class Closing(NamedTuple):
    """How many bytes an attempt printed, and how many of them are stored. None: all are stored, without a count."""

    seen: int | None = None
    stored: int | None = None

    @property
    def is_truncated(self) -> bool:
        return self.seen != self.stored


class LogState(StrEnum):
    """Whether a log is complete, and if not, why."""

    COMPLETE = "complete"
    """Everything is stored, or the run printed nothing."""
    TRUNCATED = "truncated"
    """The attempt printed more than is stored."""
    WORKER_LOST = "worker_lost"
    """The worker was lost: output that it had not sent is lost."""
    PRUNED = "pruned"
    """Retention has removed some or all of the log, if there was any."""
    OPEN = "open"
    """The attempt is running and may print more."""


def closing_line(closing: Closing) -> bytes:
    if not closing.is_truncated:
        return _COMPLETE
    return f"end of log: truncated, {closing.stored} of {closing.seen} bytes kept\n".encode()


def cut_line(attempt: int) -> bytes:
    """Return the line shown between an attempt whose worker was lost and the next attempt."""
    return f"attempt {attempt} was cut off: its worker was lost, and output that it had not sent is lost\n".encode()


def given_back_line(attempt: int, *, restarted: bool = True) -> bytes:
    """Return the line shown after an attempt that was interrupted because its worker stopped."""
    then = "started again" if restarted else "did not start again"
    return f"attempt {attempt} was interrupted when its worker stopped, and {then}\n".encode()


def read_closing(chunk: LogChunk) -> Closing | None:
    """Return the closing that a chunk contains. None: the chunk is not a closing line."""
    if chunk.stream != "meta":
        return None
    if chunk.data == _COMPLETE:
        return Closing()
    found = _TRUNCATED.fullmatch(chunk.data)
    return None if found is None else Closing(seen=int(found[2]), stored=int(found[1]))


class LogEnd(NamedTuple):
    """How a log ends. The sizes are set only for a truncated log whose bytes were counted."""

    state: LogState
    seen: int | None = None
    stored: int | None = None


def log_end(
    chunks: Sequence[LogChunk], *, is_over: bool, was_lost: bool, ended_at: Instant | None, kept_from: Instant | None
) -> LogEnd:
    """Return how the log of one attempt ends. `chunks` are at least its first and its last, in order."""
    if not is_over:
        return LogEnd(LogState.OPEN)
    if _is_pruned(chunks, ended_at, kept_from):
        return LogEnd(LogState.PRUNED)
    if was_lost:
        return LogEnd(LogState.WORKER_LOST)
    closing = read_closing(chunks[-1]) if chunks else Closing()
    if closing is None:
        return LogEnd(LogState.TRUNCATED)
    return LogEnd(LogState.TRUNCATED, *closing) if closing.is_truncated else LogEnd(LogState.COMPLETE)


def _is_pruned(chunks: Sequence[LogChunk], ended_at: Instant | None, kept_from: Instant | None) -> bool:
    if chunks:
        return chunks[0].seq > 0
    return ended_at is not None and kept_from is not None and ended_at < kept_from
