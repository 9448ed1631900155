"""The clock port: reads the time and waits."""

import asyncio
from typing import Protocol

from foliot.domain.instant import Instant, Millis


class Clock(Protocol):
    """Has two times: `now` is wall time and may be set; `elapsed` is monotonic and counts from boot."""

    @property
    def boot_id(self) -> str:
        """The id of the boot that `elapsed` counts from, the same in all processes of a machine."""
        ...

    def now(self) -> Instant: ...

    def elapsed(self) -> Millis:
        """Milliseconds since boot, suspended time included."""
        ...

    # The rule is about coroutines that should be wrapped in asyncio.timeout; this one implements waiting.
    async def wait(self, wake: asyncio.Event, timeout: Millis | None) -> None:  # noqa: ASYNC109
        """Return when `wake` is set or the timeout has passed, whichever comes first."""
        ...
