"""Collects the output of a job while it runs, in bounded memory."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.output import LONGEST_LINE, OutputMode, check_size, read_output
from foliot.domain.run.payload import MAX_BYTES
from foliot.errors import InvalidRun


class Capture:
    """Collects the bytes of one output. If it is too large, only its size is kept."""

    def __init__(self, mode: OutputMode) -> None:
        self._mode = mode
        self._kept = bytearray()
        self._size = 0

    def add(self, data: bytes) -> None:
        if self._mode == "last_line":
            self._kept += data
            if len(self._kept) > 4 * LONGEST_LINE:
                # One byte more than the longest line: the end of the line before it, or a line that is too long.
                del self._kept[: -LONGEST_LINE - 1]
            return
        self._size += len(data)
        if self._size > MAX_BYTES:
            self._kept.clear()
        else:
            self._kept += data

    def read(self) -> bytes | None:
        """Return the output as JSON. Raises InvalidRun if it is not valid."""
        check_size(self._size)
        return read_output(self._mode, bytes(self._kept))


async def with_output(
    outcome: Success | Failure, read: Callable[[], bytes | None], *, of_failures: bool = False
) -> Success | Failure:
    """Return a success with the output from `read`, or a failure if that is invalid. A failure is returned unchanged,
    or with its output too if `of_failures`.

    `read` runs in a thread, because a mebibyte of JSON takes a while. Another attempt may print valid JSON, so the
    failure is retryable.
    """
    if isinstance(outcome, Failure):
        return replace(outcome, output=await asyncio.to_thread(read)) if of_failures else outcome
    try:
        return Success(await asyncio.to_thread(read), outcome.exit_code)
    except InvalidRun as refusal:
        return Failure(str(refusal), Reason.OUTPUT, outcome.exit_code)
