"""The server's clock, as near as it can be told without asking.

Every answer that says what time it was tells something about the distance between the server's clock and our own
steady one: the server looked at it after it was asked, and before the answer was here. What all answers agree on is
believed; where one disagrees, a clock was set or runs faster, and that one alone is believed.
"""

import asyncio
from typing import Final

from foliot.domain.instant import Instant, Millis
from foliot.ports.clock import Clock

_ROUNDING: Final = 1
"""Both clocks tell whole milliseconds."""


class ServerClock:
    """A clock like any other, except that its wall is the server's: that of this machine may be wrong."""

    def __init__(self, own: Clock) -> None:
        self._own = own
        self._guess = own.now() - own.elapsed()
        self._bounds: tuple[int, int] | None = None
        """Between which the distance lies, once there was an answer."""

    @property
    def boot_id(self) -> str:
        return self._own.boot_id

    def now(self) -> Instant:
        """Never ahead of the server: what is due now is due there when it arrives."""
        return Instant(self._own.elapsed() + (self._guess if self._bounds is None else self._bounds[0]))

    def elapsed(self) -> Millis:
        return self._own.elapsed()

    async def wait(self, wake: asyncio.Event, timeout: Millis | None) -> None:  # noqa: ASYNC109
        await self._own.wait(wake, timeout)

    def learn(self, said: Instant, asked: Millis) -> None:
        """The server said this when it was asked at that moment of `elapsed`."""
        least, most = heard = said - self._own.elapsed() - _ROUNDING, said - asked + _ROUNDING
        if self._bounds is not None:
            least, most = max(least, self._bounds[0]), min(most, self._bounds[1])
        self._bounds = (least, most) if least <= most else heard
