"""The clock port: what time it is, and how to wait."""

import asyncio
from typing import Protocol

from foliot.domain.instant import Instant, Millis


class Clock(Protocol):
    """Two hands: `now` is wall time and may step, `elapsed` counts since boot and never does."""

    @property
    def boot_id(self) -> str:
        """Names the boot that `elapsed` counts from, the same for all processes of a machine."""
        ...

    def now(self) -> Instant: ...

    def elapsed(self) -> Millis:
        """Milliseconds since boot, suspended time included."""
        ...

    # The clock is the one place where a timeout is the point.
    async def wait(self, wake: asyncio.Event, timeout: Millis | None) -> None:  # noqa: ASYNC109
        """Return when `wake` is set or the time has passed, whichever comes first."""
        ...
