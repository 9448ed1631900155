"""Collects the progress that running attempts report, and saves it.

The latest report of each attempt is kept in memory. Once a second at most, those that are new are saved together with
one call. So frequent reports slow down neither the job nor the storage.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from threading import get_ident
from typing import Final

from msgspec import Struct

from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import Claim
from foliot.domain.run.progress import ProgressReport, RunProgress, read_progress
from foliot.ports.clock import Clock
from foliot.ports.work import Work

INTERVAL: Final = SECOND
"""The shortest time between two saves."""


class ProgressCollector:
    """The duty that saves progress."""

    name = "progress"

    def __init__(self, work: Work, clock: Clock) -> None:
        self._work = work
        self._clock = clock
        self._unsaved: list[AttemptProgress] = []
        self._next_save = Millis(0)
        self.wake = asyncio.Event()

    @cached_property
    def _home(self) -> tuple[asyncio.AbstractEventLoop, int]:
        """The event loop that saves, and its thread. Cached, because each lookup is a system call."""
        return asyncio.get_running_loop(), get_ident()

    def open(self, claim: Claim) -> "AttemptProgress":
        return AttemptProgress(claim, self, self._home)

    async def round(self) -> Millis | None:
        if not self._unsaved:
            return None
        wait = self._next_save - self._clock.elapsed()
        if wait > 0:
            return Millis(wait)
        unsaved, self._unsaved = self._unsaved, []
        reports = [report for one in unsaved if (report := one.take()) is not None]
        if reports:
            self._next_save = Millis(self._clock.elapsed() + INTERVAL)
            try:
                # Stale reports belong to leases that were lost. The heartbeat ends their attempts.
                await self._work.save_progress(reports)
            except BaseException:
                for one in unsaved:
                    one.enlist()
                raise
        return Millis(INTERVAL) if self._unsaved else None

    def add(self, progress: "AttemptProgress") -> None:
        """Save the latest report of an attempt with the next round. Called on the event loop."""
        self._unsaved.append(progress)
        self.wake.set()


class AttemptProgress(Struct, eq=False, gc=False):
    """The progress of one attempt. Other threads may report to it."""

    _claim: Claim
    _collector: ProgressCollector
    _home: tuple[asyncio.AbstractEventLoop, int]
    latest: RunProgress | None = None
    """What was reported last."""
    _is_listed: bool = False
    """Whether the collector will save `latest`. It wakes once for any number of reports."""
    _is_closed: bool = False

    def report(self, progress: RunProgress) -> None:
        """Replace the progress. Does not wait and does not raise; ignored after the attempt has ended."""
        if not self._is_closed:
            # Set before `enlist` checks `_is_listed`: `take` resets that flag before it reads, so that no report is
            # missed.
            self.latest = progress
            self.enlist()

    async def handle(self, request: Mapping[str, object]) -> Mapping[str, object]:
        """Handle a request of the type `progress`."""
        self.report(read_progress(request.get("fraction"), request.get("text")))
        return {}

    def close(self) -> None:
        """Ignore further reports, and drop a report that is not saved yet."""
        self._is_closed = True

    def take(self) -> ProgressReport | None:
        """Return the report to save; None if the attempt has ended."""
        self._is_listed = False
        if self._is_closed or self.latest is None:
            return None
        return ProgressReport(self._claim.run_id, self._claim.worker_id, self._claim.token, *self.latest)

    def enlist(self) -> None:
        """Add the latest report to those that the collector saves, unless it is listed already."""
        if self._is_listed:
            return
        self._is_listed = True
        loop, thread = self._home
        if get_ident() == thread:
            self._collector.add(self)
        else:
            # An abandoned thread may still report after the loop was closed.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._collector.add, self)
