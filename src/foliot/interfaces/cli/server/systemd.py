"""Reports the state of a server to systemd (`Type=notify`): ready, reloading, stopping, alive.

Each report is one datagram with lines NAME=VALUE, sent to the socket that NOTIFY_SOCKET names. Without that variable
nothing is sent.
"""

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Final

from foliot.domain.instant import MINUTE, Millis

log = logging.getLogger("foliot")

_LONGEST_SEND: Final = 1.0
"""Seconds that a report may block the process while the queue of the socket is full."""
_STOP_MARGIN: Final = MINUTE
"""Time for the end of a stop, after the drain."""


class Systemd:
    """Sends reports to systemd if it started this process."""

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        """Take the variables out of the environment, so that jobs do not report in the name of the server."""
        self._address = environ.pop("NOTIFY_SOCKET", "")
        interval, pid = environ.pop("WATCHDOG_USEC", ""), environ.pop("WATCHDOG_PID", "")
        is_watched = interval.isdecimal() and pid in {"", str(os.getpid())}
        self._watchdog = int(interval) / 1_000_000 if is_watched else 0.0
        """Seconds within which systemd expects a sign of life. 0: it expects none."""
        self._has_started = False

    def started(self, problem: str = "") -> None:
        """Report that the server works. `problem`: why it works with the stored definitions instead of its file."""
        self._has_started = True
        self._send("READY=1", _status(problem))

    def reloading(self) -> None:
        # Before the start there is nothing to reload, and the end of a reload would be taken for the start.
        if self._has_started:
            self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1_000}")

    def reloaded(self, problem: str) -> None:
        """Report the end of a reload. `problem`: why the file was not applied."""
        if self._has_started:
            self._send("READY=1", _status(problem))

    def stopping(self, drain: Millis) -> None:
        """Report a stop, and request enough time for running work to end."""
        self._send("STOPPING=1", f"EXTEND_TIMEOUT_USEC={(drain + _STOP_MARGIN) * 1_000}")

    @asynccontextmanager
    async def watchdog(self) -> AsyncIterator[None]:
        """During the block, report twice per interval of the watchdog that the event loop runs."""
        task = asyncio.create_task(self._keep_alive())
        try:
            yield
        finally:
            task.cancel()

    async def _keep_alive(self) -> None:
        while self._address and self._watchdog:
            self._send("WATCHDOG=1")
            await asyncio.sleep(self._watchdog / 2)

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        # A name that begins with @ is in the abstract namespace, where the first byte is zero.
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.settimeout(_LONGEST_SEND)
                sender.sendto("\n".join(lines).encode(errors="surrogateescape"), address)
        except OSError as error:
            log.warning("systemd_not_reached", extra={"problem": str(error), "report": lines[0]})


def _status(problem: str) -> str:
    """Return the line that `systemctl status` shows. A line break would begin another assignment."""
    return f"STATUS=serving the stored definitions: {' '.join(problem.split())}" if problem else "STATUS=serving"
