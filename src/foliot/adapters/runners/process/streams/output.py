"""Reads the output of a run from its pipes and writes it to the log: bounded, in order, byte for byte.

child --pipe--> Pipe --> Output --write--> log         one read for each turn of the loop, 64 KiB at most
                  ^         |               |
                  |         +-add--> Capture|          all of stdout, if the job uses it as its output
                  +--------- drain ---------+          after each 64 KiB: no reading until the log has room
"""

import asyncio
import os
from collections.abc import Callable
from typing import Final, TypeVar

from foliot.adapters.runners.capture import Capture
from foliot.domain.run.logs import Stream
from foliot.ports.runner import LogSink

T = TypeVar("T")

_READ: Final = 65_536
_DRAIN_EVERY: Final = 65_536
_LARGEST_PIPE: Final = 1_048_576
"""The largest buffer of a pipe, unless root has raised fs.pipe-max-size."""


class Output:
    """Both streams of one attempt. Stores bytes up to a cap, counts the rest, and logs both numbers at the end."""

    def __init__(self, log: LogSink, cap: int, capture: Capture | None = None) -> None:
        self.log = log
        self._cap = cap
        self._capture = capture
        self._total = 0
        self._undrained = 0
        self._pipes: list[Pipe] = []

    def attach(self, spawn: Callable[[int, int], T]) -> T:
        """Call `spawn` with the descriptors for stdout and stderr, and log everything that is written to them."""
        try:
            for stream in ("stdout", "stderr"):
                self._pipes.append(Pipe(stream, self))
            for pipe in self._pipes:
                pipe.watch()
            return spawn(self._pipes[0].write_end, self._pipes[1].write_end)
        except BaseException:
            for pipe in self._pipes:
                pipe.close()
            raise
        finally:
            for pipe in self._pipes:
                os.close(pipe.write_end)

    def take(self, stream: Stream, data: bytes) -> None:
        if self._capture is not None and stream == "stdout":
            self._capture.add(data)
        kept = data[: max(self._cap - self._total, 0)]
        self._total += len(data)
        if kept:
            self.log.write(stream, kept)
            self._undrained += len(kept)

    @property
    def needs_drain(self) -> bool:
        return self._undrained >= _DRAIN_EVERY

    async def drain(self) -> None:
        self._undrained = 0
        await self.log.drain()

    def finish(self) -> None:
        """Read what is in the pipes now, and close them without waiting for processes that still hold them."""
        while self._pipes:
            self._pipes.pop(0).finish()
        if self._total > self._cap:
            self.log.truncated(self._total, self._cap)


class Pipe:
    """The pipe of one stream."""

    def __init__(self, stream: Stream, output: Output) -> None:
        self._stream = stream
        self._output = output
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.Task[None] | None = None
        self._is_watched = False
        self._is_open = True
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)

    def watch(self) -> None:
        if self._is_open:
            self._loop.add_reader(self._read_end, self._on_readable)
            self._is_watched = True

    def finish(self) -> None:
        # A process may fill the pipe as fast as it is read, so the number of bytes is limited.
        left = _LARGEST_PIPE
        while self._is_open and left > 0 and (data := self._read()):
            self._output.take(self._stream, data)
            left -= len(data)
        self.close()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._unwatch()
            os.close(self._read_end)
            if self._pause is not None:
                self._pause.cancel()

    def _unwatch(self) -> None:
        if self._is_watched:
            self._loop.remove_reader(self._read_end)
            self._is_watched = False

    def _on_readable(self) -> None:
        data = self._read()
        if data is None:
            return
        if not data:
            self.close()
            return
        self._output.take(self._stream, data)
        if self._output.needs_drain:
            self._unwatch()
            self._pause = self._loop.create_task(self._wait_for_room())

    async def _wait_for_room(self) -> None:
        """Do not read until the log has room. Meanwhile the full pipe blocks the child, which bounds memory."""
        try:
            await self._output.drain()
        finally:
            self._pause = None
            self.watch()

    def _read(self) -> bytes | None:
        """Return what is there; empty at the end of the stream, None if there is nothing yet."""
        try:
            return os.read(self._read_end, _READ)
        except BlockingIOError:
            return None
