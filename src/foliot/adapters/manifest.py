"""Writes files for the processes of one attempt, which may belong to another user.

Any user may read such a file, but its name is random and its directory cannot be listed: only processes that were given
the path find it.
"""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO


@asynccontextmanager
async def written_file(directory: Path, pages: AsyncIterator[bytes]) -> AsyncIterator[Path]:
    """Write a file page by page, and remove it when the block ends."""
    path = directory / f"manifest-{secrets.token_urlsafe(24)}"
    try:
        await _write(path, pages)
        yield path
    finally:
        await asyncio.to_thread(path.unlink, missing_ok=True)


async def _write(path: Path, pages: AsyncIterator[bytes]) -> None:
    file = await asyncio.to_thread(_create, path)
    try:
        async for page in pages:
            await asyncio.to_thread(file.write, page)
    finally:
        await asyncio.to_thread(file.close)


def _create(path: Path) -> BinaryIO:
    file = path.open("xb")
    os.fchmod(file.fileno(), 0o644)  # whatever the umask of the worker is
    return file
