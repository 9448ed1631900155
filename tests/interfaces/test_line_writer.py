"""Lines that are written by a thread: in order, complete, and without blocking the caller."""

import fcntl
import os
import resource
import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from foliot.interfaces.line_writer import LineWriter


class Pipe:
    """A pipe of one page, read only when the test reads it."""

    def __init__(self) -> None:
        self.ours, self.theirs = os.pipe()
        fcntl.fcntl(self.theirs, fcntl.F_SETPIPE_SZ, 4096)
        self._filled = 0

    def fill(self) -> None:
        """Fill the pipe, so that further writes block."""
        os.set_blocking(self.theirs, False)
        with suppress(BlockingIOError):
            while True:
                self._filled += os.write(self.theirs, b".")
        os.set_blocking(self.theirs, True)

    def lines(self, last: str) -> list[str]:
        """Return the lines that were written after `fill`, up to this one."""
        read = b""
        while not read.endswith(f"{last}\n".encode()):
            assert select.select([self.ours], [], [], 30)[0], f"nothing more comes after {read!r}"
            read += os.read(self.ours, 65_536)
        filled, self._filled = self._filled, 0
        return read[filled:].decode().splitlines()

    def read_until(self, is_enough: Callable[[], object]) -> None:
        """Read only as much as needed."""
        while not is_enough():
            if select.select([self.ours], [], [], 0.001)[0]:
                os.read(self.ours, 100)

    def close(self) -> None:
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.close()


def dropped_line(count: int) -> str:
    return f"dropped {count} lines"


def get_stuck(writer: LineWriter) -> None:
    """Write a line that is not read, and wait until the thread is blocked by it. Later lines stay in the buffer."""
    writer.put("stuck")
    while writer._is_idle:
        time.sleep(0.001)


def test_lines_are_written_in_order(pipe: Pipe) -> None:
    writer = LineWriter(pipe.theirs, dropped_line)

    for number in range(50):
        writer.put(f"line {number}")
    writer.flush()

    assert pipe.lines("line 49") == [f"line {number}" for number in range(50)]


def test_put_never_blocks_and_dropped_lines_are_reported_in_their_place(pipe: Pipe) -> None:
    writer = LineWriter(pipe.theirs, dropped_line, most=60, line_timeout=0.01)
    pipe.fill()
    get_stuck(writer)

    for number in range(100):
        writer.put(f"{number:06}")
    writer.flush()

    assert pipe.lines("lines") == ["stuck", *(f"{number:06}" for number in range(10)), dropped_line(90)]


def test_lines_are_accepted_again_when_the_buffer_has_room(pipe: Pipe) -> None:
    writer = LineWriter(pipe.theirs, dropped_line, most=10, line_timeout=0.01)
    pipe.fill()
    get_stuck(writer)
    for _ in range(100):
        writer.put("too much")
    writer.flush()
    pipe.lines("lines")

    writer.put("again")

    assert pipe.lines("again")[-1] == "again"


def test_flush_returns_false_while_the_thread_is_still_writing(pipe: Pipe) -> None:
    writer = LineWriter(pipe.theirs, dropped_line, line_timeout=0.01)
    pipe.fill()
    get_stuck(writer)

    assert not writer.flush()

    assert pipe.lines("stuck") == ["stuck"]


def test_flush_waits_for_a_slow_reader(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = LineWriter(pipe.theirs, dropped_line)
    pipe.fill()
    get_stuck(writer)
    wait_for, waits = writer._changed.wait_for, []

    def lose_patience_while_a_line_is_taken(is_done: Callable[[], bool], timeout: float | None = None) -> bool:
        waits.append(timeout)
        if len(waits) > 1:
            return wait_for(is_done, timeout)
        os.read(pipe.ours, 65_536)
        while not writer._written:
            time.sleep(0.001)
        return False

    monkeypatch.setattr(writer._changed, "wait_for", lose_patience_while_a_line_is_taken)
    assert writer.flush()


def test_flush_does_not_wait_twice_for_a_stopped_reader(pipe: Pipe) -> None:
    """The interpreter flushes and closes; with this timeout a second wait would not end in time."""
    writer = LineWriter(pipe.theirs, dropped_line, line_timeout=0.01)
    pipe.fill()
    writer.put("stuck")
    assert not writer.flush()

    writer._line_timeout = 10_000.0
    assert not writer.flush()

    assert pipe.lines("stuck") == ["stuck"]


def test_flush_waits_again_when_the_reader_continues(pipe: Pipe) -> None:
    """One line that is read is enough, although many more are queued."""
    writer = LineWriter(pipe.theirs, dropped_line, line_timeout=0.01)
    pipe.fill()
    for number in range(3):
        writer.put(f"{number}{'x' * 5_000}")
    assert not writer.flush()

    pipe.read_until(lambda: writer._written)
    writer._line_timeout = 10_000.0
    reader = threading.Thread(target=pipe.read_until, args=[writer._is_done])
    reader.start()

    assert writer.flush()
    reader.join()


def test_after_the_longest_wait_flush_waits_again_only_when_all_lines_were_read(pipe: Pipe) -> None:
    """Lines are read slowly: the second of two waits would not end in time."""
    writer = LineWriter(pipe.theirs, dropped_line, line_timeout=10_000.0)
    pipe.fill()
    writer.put("slow")
    writer.put("slowly")
    assert not writer.flush(longest=0.01)

    assert not writer.flush()

    assert pipe.lines("slowly") == ["slow", "slowly"]
    # The bytes are here before the writing thread has counted them.
    pipe.read_until(writer._is_done)
    assert writer.flush()


def test_flush_waits_no_longer_than_asked(pipe: Pipe) -> None:
    writer = LineWriter(pipe.theirs, dropped_line, line_timeout=10_000.0)
    pipe.fill()
    writer.put("stuck")

    assert not writer.flush(longest=0.01)

    assert pipe.lines("stuck") == ["stuck"]


def test_a_non_blocking_descriptor_is_waited_for_in_the_thread(pipe: Pipe) -> None:
    writer = LineWriter(pipe.theirs, dropped_line, line_timeout=0.05)
    pipe.fill()
    os.set_blocking(pipe.theirs, False)

    writer.put("after all")
    assert not writer.flush()

    assert pipe.lines("after all") == ["after all"]


def test_lines_lost_on_a_full_disk_are_reported_when_there_is_room(pipe: Pipe) -> None:
    target = os.open("/dev/full", os.O_WRONLY)
    writer = LineWriter(target, dropped_line)
    writer.put("lost")
    writer.put("lost as well")
    writer.flush()

    os.dup2(pipe.theirs, target)
    writer.put("kept")

    assert pipe.lines("kept") == [dropped_line(2), "kept"]
    os.close(target)


def test_a_partially_written_line_does_not_damage_the_next(tmp_path: Path) -> None:
    file = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    writer = LineWriter(file, dropped_line)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, before[1]))
    try:
        writer.put("too long")
        writer.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    writer.put("whole")
    writer.flush()

    assert (tmp_path / "log").read_text().splitlines() == ["too l", dropped_line(1), "whole"]
    os.close(file)


def test_characters_missing_in_the_encoding_are_escaped(pipe: Pipe) -> None:
    LineWriter(pipe.theirs, dropped_line, encoding="ascii").put("größer")

    assert pipe.lines("er") == [r"gr\xf6\xdfer"]
