"""Finding and opening the storage of a command.

--storage or FOLIOT_STORAGE  >  [storage] of --config, FOLIOT_CONFIG or ./foliot.toml  >  sqlite:///foliot.db
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

from foliot.domain.defaults import DEFAULT_STORAGE
from foliot.domain.instant import Instant
from foliot.domain.notification.settings import NotificationSettings
from foliot.domain.outbound.policy import OutboundPolicy
from foliot.interfaces.cli.log_bridge import print_warnings
from foliot.interfaces.cli.login import login_actor
from foliot.interfaces.cli.options import find_config
from foliot.service.notifications.samples import SampleResult, send_samples, urls_of
from foliot.service.services import Services
from foliot.wiring import back_up, build_notifiers, open_services

Answer = TypeVar("Answer")


def storage_url(storage: str | None, config: Path | None) -> str:
    """Return the URL of the storage that the options name."""
    if storage:
        return storage
    path = find_config(config)
    if path is None:
        return DEFAULT_STORAGE
    # Imported here because it loads many modules: a command without a configuration starts faster.
    from foliot.interfaces.cli.configuration import storage_of

    return storage_of(path)


def with_services(
    storage: str | None, config: Path | None, function: Callable[[Services], Awaitable[Answer]]
) -> Answer:
    """Call a function with the open services. A missing storage is not created, an old one not migrated."""
    url = storage_url(storage, config)

    async def call() -> Answer:
        async with opened_storage(url) as services:
            return await function(services)

    return asyncio.run(call())


def copy_storage(url: str, target: Path, progress: Callable[[int, int], None]) -> list[Path]:
    """Copy the storage to new files and return them."""
    return asyncio.run(back_up(url, target, progress))


async def send_test_messages(
    url: str | None, settings: NotificationSettings, policy: OutboundPolicy, job_id: str | None
) -> list[SampleResult]:
    """Send a test message to the targets of a job, or of the settings. `url`: the storage of the job."""
    targets = settings.defaults.urls
    if url is not None and job_id is not None:
        async with opened_storage(url) as services:
            targets = await urls_of(settings, services, job_id)
    now = Instant(time.time_ns() // 1_000_000)
    return await send_samples(build_notifiers(settings, policy), targets, f"msg_test_{token_hex(8)}", job_id, now)


@asynccontextmanager
async def opened_storage(url: str, *, create: bool = False) -> AsyncIterator[Services]:
    """Open the services, and print what is logged until they are closed."""
    with print_warnings():
        services = await open_services(url, create=create, actor=login_actor())
        try:
            yield services
        finally:
            await services.close()
