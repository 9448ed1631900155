"""Opening what a command works on: a server (see `place`), or the storage.

--storage or FOLIOT_STORAGE  >  [storage] of --config, FOLIOT_CONFIG or ./foliot.toml  >  sqlite:///foliot.db
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final, TypeVar

import click

from foliot.domain.defaults import DEFAULT_STORAGE
from foliot.domain.instant import Instant
from foliot.domain.outbound.policy import OutboundPolicy
from foliot.errors import CredentialsRefused
from foliot.interfaces.cli.log_bridge import print_warnings
from foliot.interfaces.cli.login import login_actor
from foliot.interfaces.cli.options import find_config
from foliot.interfaces.cli.place import given_server
from foliot.service.answers import SampleAnswer
from foliot.service.notifications.samples import send_samples, urls_of
from foliot.service.operations import Operations
from foliot.service.services import Services
from foliot.wiring.services import open_services
from foliot.wiring.storage import back_up

if TYPE_CHECKING:
    from foliot.client.operations.all import HttpOperations
    from foliot.config import Configuration

Answer = TypeVar("Answer")
_LONGEST_REQUEST: Final = 600.0
"""Seconds for one request: `verify` reads all ledgers."""
_RETRIES: Final = 3


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
    storage: str | None,
    config: Path | None,
    function: Callable[[Operations], Awaitable[Answer]],
    *,
    create: bool = False,
) -> Answer:
    """Call a function with the open services, or with those of a server. A missing storage is not created unless
    `create` is set, an old one not migrated."""
    server = given_server()
    url = storage_url(storage, config) if server is None else ""

    async def call() -> Answer:
        if server is not None:
            async with opened_server(server) as remote:
                return await function(remote)
        async with opened_storage(url, create=create) as services:
            return await function(services)

    return asyncio.run(call())


@asynccontextmanager
async def opened_place(context: click.Context) -> AsyncIterator[Operations]:
    """Open what the options of a command name."""
    server = given_server(context)
    if server is not None:
        async with opened_server(server) as remote:
            yield remote
        return
    async with opened_storage(storage_url(context.params.get("storage"), context.params.get("config"))) as services:
        yield services


@asynccontextmanager
async def opened_server(url: str) -> "AsyncIterator[HttpOperations]":
    """Connect to a server."""
    # Imported here: commands on a storage start faster without the client.
    from foliot.client import AsyncClient
    from foliot.client.operations.all import HttpOperations

    try:
        async with AsyncClient(url, timeout=_LONGEST_REQUEST, retries=_RETRIES) as client:
            yield HttpOperations(client)
    except CredentialsRefused as error:
        error.hint = "Set FOLIOT_TOKEN to a valid token. Create one on the server with: foliot token create"
        raise


def on_server(url: str, function: "Callable[[HttpOperations], Awaitable[Answer]]") -> Answer:
    """Call a function with a server, for what only servers have."""

    async def call() -> Answer:
        async with opened_server(url) as remote:
            return await function(remote)

    return asyncio.run(call())


def copy_storage(url: str, target: Path, progress: Callable[[int, int], None]) -> list[Path]:
    """Copy the storage to new files and return them."""
    return asyncio.run(back_up(url, target, progress))


async def send_test_messages(url: str | None, configuration: "Configuration", job_id: str | None) -> list[SampleAnswer]:
    """Send a test message to the targets of a job, or of the configuration. `url`: the storage of the job."""
    if url is None:
        return await send_tests(configuration, None, None)
    async with opened_storage(url) as services:
        return await send_tests(configuration, services, job_id)


async def send_tests(
    configuration: "Configuration", services: Services | None, job_id: str | None
) -> list[SampleAnswer]:
    """Send a test message to the targets of a job of the services, or of the configuration."""
    # Imported here: commands that send nothing start faster without the runners.
    from foliot.wiring.runners import build_notifiers

    settings, outbound = configuration.notifications, configuration.outbound
    targets = settings.defaults.urls
    if services is not None and job_id is not None:
        targets = await urls_of(settings, services, job_id)
    policy = OutboundPolicy.of(block_private=outbound.block_private, allow=outbound.allow)
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
