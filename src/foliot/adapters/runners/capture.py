"""Keeping what a job gives while it gives it, in bounded memory."""

import asyncio
from collections.abc import Callable

from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.output import OutputMode, check_size, read_output
from foliot.domain.run.payload import MAX_BYTES
from foliot.errors import InvalidRun


class Capture:
    """Collects the bytes of one output. Of one that is too large only the size is kept."""

    def __init__(self, mode: OutputMode) -> None:
        self._mode = mode
        self._kept = bytearray()
        self._size = 0

    def add(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > MAX_BYTES:
            self._kept.clear()
        else:
            self._kept += data

    def read(self) -> bytes | None:
        """The output as JSON, or InvalidRun."""
        check_size(self._size)
        return read_output(self._mode, bytes(self._kept))


async def with_output(outcome: Success | Failure, read: Callable[[], bytes | None]) -> Success | Failure:
    """A success with what `read` gives as its output, if that can be one. A failure stays what it is.

    In a thread: a mebibyte of JSON takes a while. Another try may print better JSON, so a refusal is not final.
    """
    if isinstance(outcome, Failure):
        return outcome
    try:
        return Success(await asyncio.to_thread(read), outcome.exit_code)
    except InvalidRun as refusal:
        return Failure(str(refusal), Reason.OUTPUT, outcome.exit_code)
