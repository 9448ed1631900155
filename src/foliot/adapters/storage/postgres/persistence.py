"""Trying again where that can help, with growing pauses, and an end."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from foliot.adapters.storage.postgres.trouble import is_retryable, reason_of

log = logging.getLogger(__name__)

T = TypeVar("T")

_PAUSES: Final = (0.02, 0.1, 0.3, 0.6, 1.0)
"""Seconds between two tries, before jitter."""
_WORTH_TELLING: Final = 1.0
"""Seconds. Whoever waited for longer than this, and in vain, should be able to read why."""


async def persist(once: Callable[[], Awaitable[T]], may_repeat: Callable[[BaseException], bool]) -> T:
    """Try, and try again what may be repeated after such an error. The last error is the caller's."""
    pauses = list(_PAUSES)
    while True:
        began = time.monotonic()
        try:
            return await once()
        except Exception as error:
            if not (pauses and is_retryable(error) and may_repeat(error)):
                raise
            waited = time.monotonic() - began
            if waited > _WORTH_TELLING:
                log.warning("storage_tries_again", extra={"after_seconds": round(waited, 1), "error": reason_of(error)})
        await asyncio.sleep(pauses.pop(0) * random.uniform(0.5, 1.5))  # noqa: S311 - spreads load, guards nothing
