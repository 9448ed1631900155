"""Estimates the server's clock without a request.

Every reply with the server's time bounds the offset between the server's clock and the local monotonic one: the server
read its clock after the request was sent and before the reply arrived. The bounds of all replies are combined. A reply
that contradicts them means that a clock was set or drifts: then its bounds replace all earlier ones.
"""

import asyncio
from typing import Final

from foliot.domain.instant import Instant, Millis
from foliot.ports.clock import Clock

_ROUNDING: Final = 1
"""Both clocks are in whole milliseconds."""


class ServerClock:
    """A clock whose wall time is the server's, because the local one may be wrong."""

    def __init__(self, own: Clock) -> None:
        self.own = own
        """The clock of this machine."""
        self._guess = own.now() - own.elapsed()
        self._bounds: tuple[int, int] | None = None
        """The least and the greatest possible offset, after the first reply."""

    @property
    def boot_id(self) -> str:
        return self.own.boot_id

    def now(self) -> Instant:
        """Return the time, never ahead of the server: what is due now is due there when a request arrives."""
        return Instant(self.own.elapsed() + (self._guess if self._bounds is None else self._bounds[0]))

    def elapsed(self) -> Millis:
        return self.own.elapsed()

    async def wait(self, wake: asyncio.Event, timeout: Millis | None) -> None:  # noqa: ASYNC109
        await self.own.wait(wake, timeout)

    def learn(self, server_time: Instant, asked: Millis) -> None:
        """Use the server's time in a reply to a request that was sent at `asked` (of `elapsed`)."""
        least, most = bounds = server_time - self.own.elapsed() - _ROUNDING, server_time - asked + _ROUNDING
        if self._bounds is not None:
            least, most = max(least, self._bounds[0]), min(most, self._bounds[1])
        self._bounds = (least, most) if least <= most else bounds
