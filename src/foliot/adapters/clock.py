"""The machine's own clock."""

import asyncio
import time
from pathlib import Path
from platform import node
from typing import Final

from foliot.domain.instant import Instant, Millis

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_NANOS: Final = 1_000_000
# Only Linux has a clock that includes suspended time; elsewhere the monotonic clock is used.
_ELAPSED_CLOCK: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """Wall time and time since boot, from the kernel."""

    def __init__(self, boot_id_file: Path = _BOOT_ID) -> None:
        self._boot_id = _read_boot_id(boot_id_file)

    @property
    def boot_id(self) -> str:
        return self._boot_id

    def now(self) -> Instant:
        return Instant(time.time_ns() // _NANOS)

    def elapsed(self) -> Millis:
        return Millis(time.clock_gettime_ns(_ELAPSED_CLOCK) // _NANOS)

    async def wait(self, wake: asyncio.Event, timeout: Millis | None) -> None:  # noqa: ASYNC109
        """Return when `wake` is set, or when the time has passed."""
        try:
            async with asyncio.timeout(None if timeout is None else timeout / 1_000):
                await wake.wait()
        except TimeoutError:
            return


def _read_boot_id(path: Path) -> str:
    """Return the kernel's id of this boot, or the machine's name where there is none: the same for all processes."""
    try:
        return path.read_text().strip()
    except OSError:
        return node() or "boot"
