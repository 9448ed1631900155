"""What a run printed, as numbered chunks of one attempt, and how its end is told.

An attempt that printed anything ends with a closing line in the stream `meta`. Only Foliot writes that stream, so a
job cannot forge it. A log without one was cut off: its worker vanished, or its chunks could not be saved.
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
    """How many bytes an attempt printed, and how many of them are kept. None: all, and nobody counted."""

    seen: int | None = None
    stored: int | None = None

    @property
    def is_truncated(self) -> bool:
        return self.seen != self.stored


class LogState(StrEnum):
    """What can be said at the end of a log."""

    COMPLETE = "complete"
    """It is all there; also of a run that printed nothing."""
    TRUNCATED = "truncated"
    """More was printed than is kept."""
    WORKER_LOST = "worker_lost"
    """The worker vanished: what it had not handed over is gone."""
    PRUNED = "pruned"
    """Retention has removed some or all of it, if there was any."""
    OPEN = "open"
    """There may be more to come."""


def closing_line(closing: Closing) -> bytes:
    if not closing.is_truncated:
        return _COMPLETE
    return f"end of log: truncated, {closing.stored} of {closing.seen} bytes kept\n".encode()


def cut_line(attempt: int) -> bytes:
    """What stands in place of a closing line where another attempt follows one whose worker vanished."""
    return f"attempt {attempt} was cut off: its worker vanished, and with it what it had not handed over\n".encode()


def given_back_line(attempt: int, *, began_again: bool = True) -> bytes:
    """What stands between two starts of one attempt: its worker was told to stop while it was at work."""
    what_then = "began again" if began_again else "never began again"
    return f"attempt {attempt} was given back when its worker stopped, and {what_then}\n".encode()


def read_closing(chunk: LogChunk) -> Closing | None:
    """What a chunk says about the end of its attempt's log, if it is a closing line."""
    if chunk.stream != "meta":
        return None
    if chunk.data == _COMPLETE:
        return Closing()
    found = _TRUNCATED.fullmatch(chunk.data)
    return None if found is None else Closing(seen=int(found[2]), stored=int(found[1]))


class LogEnd(NamedTuple):
    """How a log ends. The sizes are known where it is truncated and somebody could count."""

    state: LogState
    seen: int | None = None
    stored: int | None = None


def judge_log(
    chunks: Sequence[LogChunk], *, is_over: bool, was_lost: bool, ended_at: Instant | None, kept_from: Instant | None
) -> LogEnd:
    """How the log of one attempt ends: `chunks` are its first and its last, or more, in order."""
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
