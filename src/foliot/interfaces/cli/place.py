"""Finding and opening the storage of a command.

--storage or FOLIOT_STORAGE  >  [storage] of --config, FOLIOT_CONFIG or ./foliot.toml  >  sqlite:///foliot.db
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from foliot.domain.defaults import DEFAULT_STORAGE
from foliot.interfaces.cli.asides import said_aside
from foliot.interfaces.cli.config_file import find_config
from foliot.service.services import Services
from foliot.wiring import back_up, open_services

Answer = TypeVar("Answer")
Question = Callable[[Services], Awaitable[Answer]]


def storage_url(storage: str | None, config: Path | None) -> str:
    if storage:
        return storage
    path = find_config(config)
    if path is None:
        return DEFAULT_STORAGE
    # Reading a configuration needs many modules; a command without one starts faster.
    from foliot.interfaces.cli.configuration import storage_of

    return storage_of(path)


def ask(storage: str | None, config: Path | None, question: Question[Answer]) -> Answer:
    """Call a function with the open services. A missing storage is not created, an old one not migrated."""
    return asyncio.run(_ask(storage_url(storage, config), question))


async def _ask(url: str, question: Question[Answer]) -> Answer:
    async with opened(url) as services:
        return await question(services)


def copy_storage(url: str, target: Path, progress: Callable[[int, int], None]) -> list[Path]:
    """Copy the storage to new files and return them."""
    return asyncio.run(back_up(url, target, progress))


@asynccontextmanager
async def opened(url: str, *, create: bool = False) -> AsyncIterator[Services]:
    with said_aside():
        services = await open_services(url, create=create)
        try:
            yield services
        finally:
            await services.close()
