"""A clock that a test advances."""

import asyncio
from datetime import UTC, datetime
from typing import Final, NamedTuple

from foliot.domain.instant import HOUR, Instant, Millis, from_datetime, later

START: Final = from_datetime(datetime(2026, 1, 1, tzinfo=UTC))


class _Alarm(NamedTuple):
    """When a waiter is woken. Alarms for the same time ring in the order in which they were set."""

    at: int
    number: int
    bell: asyncio.Future[None]


class VirtualClock:
    """A clock that a test advances: wall time, and time since boot. It starts at 2026-01-01 00:00 UTC by default."""

    def __init__(self, start: Instant | datetime = START) -> None:
        self._now = from_datetime(start) if isinstance(start, datetime) else start
        self._passed = int(HOUR)
        self._booted = 0
        self._boots = 1
        self._alarms: list[_Alarm] = []
        self._alarms_set = 0

    @property
    def boot_id(self) -> str:
        """The id of the current boot."""
        return f"boot-{self._boots}"

    def now(self) -> Instant:
        """Return the wall time in epoch milliseconds."""
        return self._now

    def elapsed(self) -> Millis:
        """Return the time since boot in milliseconds."""
        return Millis(self._passed - self._booted)

    @property
    def waiting(self) -> int:
        """The number of waiters with a timeout."""
        return len(self._alarms)

    @property
    def next_alarm(self) -> Millis | None:
        """The span until the first waiter wakes."""
        return Millis(min(self._alarms).at - self._passed) if self._alarms else None

    def advance(self, span: Millis | int) -> Instant:
        """Advance both times by a number of milliseconds. Waiters that are due wake in the order of their times."""
        if span < 0:
            raise ValueError("time does not pass backwards: a wall clock that is set back is a step")
        self._now = later(self._now, span)
        self._passed += span
        for alarm in sorted(alarm for alarm in self._alarms if alarm.at <= self._passed):
            self._alarms.remove(alarm)
            alarm.bell.set_result(None)
        return self._now

    def advance_to(self, moment: Instant) -> Instant:
        """Advance both times until the wall time is `moment`."""
        return self.advance(moment - self._now)

    def step(self, span: Millis | int) -> Instant:
        """Set the wall clock forwards or backwards by milliseconds. Time since boot stays, and no waiter wakes."""
        self._now = later(self._now, span)
        return self._now

    def reboot(self) -> None:
        """Start another boot: time since boot begins at zero, and wall time continues."""
        self._boots += 1
        self._booted = self._passed

    async def wait(self, wake: asyncio.Event, timeout: Millis | None) -> None:  # noqa: ASYNC109
        """Return when `wake` is set or the timeout has passed in virtual time, whichever comes first."""
        if timeout is None:
            await wake.wait()
        elif timeout <= 0:
            # A loop that never has to wait must still yield to other tasks.
            await asyncio.sleep(0)
        elif not wake.is_set():
            await self._wait_until(wake, self._set_alarm(timeout))

    def _set_alarm(self, span: Millis) -> _Alarm:
        self._alarms_set += 1
        alarm = _Alarm(self._passed + span, self._alarms_set, asyncio.get_running_loop().create_future())
        self._alarms.append(alarm)
        return alarm

    async def _wait_until(self, wake: asyncio.Event, alarm: _Alarm) -> None:
        woken = asyncio.ensure_future(wake.wait())
        try:
            await asyncio.wait((woken, alarm.bell), return_when=asyncio.FIRST_COMPLETED)
        finally:
            woken.cancel()
            if alarm in self._alarms:
                self._alarms.remove(alarm)
