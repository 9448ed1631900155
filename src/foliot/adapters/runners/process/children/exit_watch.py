"""Learning that a child has ended, without blocking the loop and without asking again and again."""

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
"""A shell adds this to the number of the signal that ended its last command."""


class PidfdWatch:
    """Waits by a descriptor that becomes readable when the process has ended."""

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
        """The wait status; reaps the process, which must have ended. None if somebody else has reaped it."""
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
        _settle(self.ended)


class ThreadWatch:
    """Waits in a thread of its own and reaps, where there are no pidfds or no descriptor is left for one."""

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
        """The thread ends with the process."""

    def _wait(self) -> None:
        with suppress(ChildProcessError):
            self._status = os.waitpid(self._pid, 0)[1]
        self.has_ended = True
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(_settle, self.ended)


Watch = PidfdWatch | ThreadWatch


def watch(pid: int) -> Watch:
    """Begin to wait for a child of ours."""
    loop = asyncio.get_running_loop()
    try:
        return PidfdWatch(pid, loop)
    except (AttributeError, OSError, RuntimeError):
        # The last is how a loop says that it takes the number for that of a connection.
        return ThreadWatch(pid, loop)


def _start_thread(target: Callable[[], None], name: str) -> None:
    try:
        threading.Thread(target=target, name=name, daemon=True).start()
    except RuntimeError as error:  # that is how Python says that the system has no thread to give
        raise OSError(errno.EAGAIN, str(error)) from error


def _settle(ended: asyncio.Future[None]) -> None:
    """A waiter that was cancelled has cancelled the future as well."""
    if not ended.done():
        ended.set_result(None)


def outcome_of(
    status: int | None, limits: ProcessLimits = UNLIMITED, *, is_out_of_memory: bool = False
) -> Success | Failure:
    """What a wait status means for a process with these limits."""
    if status is None:
        return Failure("the exit status was taken by other code in the worker", Reason.EXCEPTION)
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
