"""Sends the progress of this process to its worker: `current_run().progress` in a process of its own.

A function may report in a loop, a million times. The first report is sent at once, and the following ones at most ten
times a second. The latest one is always sent, by a timer if no other follows.
"""

import os
from functools import cache
from threading import Lock, Timer
from time import monotonic
from typing import Final

from foliot.channel.client import Asker, from_environment
from foliot.domain.run.progress import RunProgress
from foliot.errors import FoliotError

_INTERVAL: Final = 0.1
_PAUSE: Final = 10.0
"""Seconds without reports after a failure: a job must not wait for its worker again and again."""
_TIMEOUT: Final = 1.0


def send_progress(progress: RunProgress) -> None:
    """Send progress to the worker. Does nothing without a channel, and never raises: a job must not fail by it."""
    _sender().report(progress)


class ProgressSender:
    """Sends the latest report, at a limited rate. Any thread may report."""

    def __init__(self, client: Asker | None) -> None:
        self._client = client
        self._latest: RunProgress | None = None
        self._timer: Timer | None = None
        self._next = 0.0
        self._lock = Lock()

    def report(self, progress: RunProgress) -> None:
        with self._lock:
            self._latest = progress
            wait = self._next - monotonic()
            if wait <= 0:
                self._send()
            elif self._timer is None:
                self._timer = Timer(wait, self._send_later)
                self._timer.daemon = True
                self._timer.start()

    def _send_later(self) -> None:
        with self._lock:
            self._timer = None
            self._send()

    def _send(self) -> None:
        progress, self._latest = self._latest, None
        if progress is None or self._client is None:
            return
        try:
            self._client.ask("progress", fraction=progress.fraction, text=progress.text)
            self._next = monotonic() + _INTERVAL
        except FoliotError:
            self._next = monotonic() + _PAUSE


@cache
def _sender() -> ProgressSender:
    # A forked process has a copy of the lock and the connection, but not the timer.
    os.register_at_fork(after_in_child=_sender.cache_clear)
    try:
        return ProgressSender(from_environment(os.environ, timeout=_TIMEOUT))
    except FoliotError:
        return ProgressSender(None)
