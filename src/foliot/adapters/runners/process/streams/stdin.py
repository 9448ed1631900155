"""Writes the text for stdin to a process."""

import asyncio
import os
from contextlib import suppress


class StdinWriter:
    """Writes text to a pipe as fast as the process reads. Does not wait for a process that does not read."""

    def __init__(self, data: bytes) -> None:
        self._left = memoryview(data)
        self._loop = asyncio.get_running_loop()
        self._is_watched = False
        self._is_open = True
        self.read_end, self._write_end = os.pipe()
        os.set_blocking(self._write_end, False)

    def start(self) -> None:
        """Write what fits; the loop writes the rest and then closes the pipe."""
        self._write()
        if self._is_open:
            self._loop.add_writer(self._write_end, self._write)
            self._is_watched = True

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            if self._is_watched:
                self._loop.remove_writer(self._write_end)
            os.close(self._write_end)

    def _write(self) -> None:
        with suppress(BlockingIOError):
            try:
                self._left = self._left[os.write(self._write_end, self._left) :]
            except BrokenPipeError:
                # The process closed stdin; the rest is dropped.
                self._left = self._left[:0]
        if not self._left:
            self.close()
