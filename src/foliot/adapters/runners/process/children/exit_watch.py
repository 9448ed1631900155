"""Waits for a child process to exit, without blocking the loop and without polling, and reads its exit status."""

import asyncio
import errno
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from foliot.domain.job.kinds.process import UNLIMITED, ProcessLimits
from foliot.domain.run.outcome import Failure, Reason, Success

_BY_SIGNAL: Final = 128
"""A shell exits with this plus the number of the signal that killed its last command."""


class PidfdWatch:
    """Waits by a pidfd, which becomes readable when the process exits."""

    def __init__(self, pid: int, loop: asyncio.AbstractEventLoop) -> None:
        self._pid = pid
        self._loop = loop
        self.has_ended = False
        self.ended = loop.create_future()
        self._pidfd = os.pidfd_open(pid)
        try:
            loop.add_reader(self._pidfd, self._on_exit)
        except BaseException:
            os.close(self._pidfd)
            raise

    def collect(self) -> int | None:
        """Reap the process, which must have exited, and return its wait status; None if other code reaped it."""
        try:
            return os.waitpid(self._pid, 0)[1]
        except ChildProcessError:
            return None

    def close(self) -> None:
        if not self.has_ended:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)

    def _on_exit(self) -> None:
        self.close()
        self.has_ended = True
        _resolve(self.ended)


class ThreadWatch:
    """Waits in a thread and reaps there, on systems without pidfds or if no descriptor is free for one."""

    def __init__(self, pid: int, loop: asyncio.AbstractEventLoop) -> None:
        self._pid = pid
        self._loop = loop
        self._status: int | None = None
        self.has_ended = False
        self.ended = loop.create_future()
        _start_thread(self._wait, name=f"foliot-wait-{pid}")

    def collect(self) -> int | None:
        return self._status

    def close(self) -> None:
        """Do nothing: the thread ends with the process."""

    def _wait(self) -> None:
        with suppress(ChildProcessError):
            self._status = os.waitpid(self._pid, 0)[1]
        self.has_ended = True
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(_resolve, self.ended)


ExitWatch = PidfdWatch | ThreadWatch


def watch_exit(pid: int) -> ExitWatch:
    """Start to wait for a child process."""
    loop = asyncio.get_running_loop()
    try:
        return PidfdWatch(pid, loop)
    except (AttributeError, OSError, RuntimeError):
        # A loop raises RuntimeError if it believes that the descriptor belongs to one of its connections.
        return ThreadWatch(pid, loop)


def _start_thread(target: Callable[[], None], name: str) -> None:
    try:
        threading.Thread(target=target, name=name, daemon=True).start()
    except RuntimeError as error:  # raised by Python if the system allows no further thread
        raise OSError(errno.EAGAIN, str(error)) from error


def _resolve(ended: asyncio.Future[None]) -> None:
    """Resolve the future, unless it was cancelled together with its waiter."""
    if not ended.done():
        ended.set_result(None)


def outcome_of(
    status: int | None, limits: ProcessLimits = UNLIMITED, *, is_out_of_memory: bool = False
) -> Success | Failure:
    """Return the outcome of an attempt whose head ended with this wait status under these limits."""
    if status is None:
        return Failure("other code in the worker reaped the process and took its exit status", Reason.EXCEPTION)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return Success(exit_code=0)
    shown = code if code > 0 else _BY_SIGNAL - code
    if is_out_of_memory:
        return Failure(f"used more than its {limits.memory} bytes of memory", Reason.LIMIT_MEMORY, shown)
    if shown == _BY_SIGNAL + signal.SIGXCPU and limits.cpu_sec is not None:
        return Failure(f"used up its {limits.cpu_sec} s of processor time", Reason.LIMIT_CPU, shown)
    if shown == _BY_SIGNAL + signal.SIGXFSZ and limits.file_size is not None:
        fault = f"wrote a file of more than its {limits.file_size} bytes"
        return Failure(fault, Reason.LIMIT_FILE_SIZE, shown)
    if code > 0:
        return Failure(f"exit code {code}", Reason.EXIT_CODE, code)
    return Failure(f"killed by {_signal_name(-code)}", Reason.SIGNAL, shown)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
