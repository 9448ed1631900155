"""Outages of the database or of the server while a command follows something: it continues when they are over."""

import asyncio
from typing import Final

from foliot.errors import FoliotError, ServerUnavailable, StorageUnavailable
from foliot.interfaces.cli.output import print_note

OUTAGES: Final = (StorageUnavailable, ServerUnavailable)
_RETRY_AFTER: Final = 1.0


async def wait_out(error: FoliotError) -> None:
    """Say what is wrong, and wait before the next attempt."""
    print_note(f"foliot: {error.message}; trying again")
    await asyncio.sleep(_RETRY_AFTER)
