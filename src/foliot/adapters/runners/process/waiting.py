"""Learning that a child has ended, without blocking the loop and without asking again and again."""

import asyncio
import errno
import os
import threading
from collections.abc import Callable
from contextlib import suppress


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
