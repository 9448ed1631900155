"""Runs tests of commands twice: on the database of the current directory, and against a server on it.

A module asks for this with `BOTH_WAYS = True`, a test of it that only applies to a database has the mark `local`.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foliot.config import Configuration
from foliot.interfaces.api.access import Authenticator
from foliot.interfaces.api.listener import Address, bind
from foliot.interfaces.cli.server.api import Api
from foliot.wiring.services import open_services
from tests.interfaces.api.serving import DevelopmentAccess

LOCAL = "local"
SERVER = "server"
NEED_DATABASE = ("migrate", "backup", "plan", "reload", "check", "init")
"""Commands that work without a server."""


@contextmanager
def served_api(storage: str, access: Authenticator | None = None) -> Iterator[str]:
    """Serve the API on a storage in another thread, and return its address. By default all requests are allowed."""
    found: list[str] = []
    ready, stop = threading.Event(), threading.Event()
    thread = threading.Thread(
        target=lambda: asyncio.run(_serve(storage, access or DevelopmentAccess(), found, ready, stop))
    )
    thread.start()
    try:
        assert ready.wait(60)
        yield found[0]
    finally:
        stop.set()
        thread.join()


async def _serve(
    storage: str, access: Authenticator, found: list[str], ready: threading.Event, stop: threading.Event
) -> None:
    try:
        services = await open_services(storage, create=True)
        listener = bind(Address(port=0))
        context = Api(listener, services, Configuration(), None)._context("127.0.0.1", set)
        context.authenticator = access
        await listener.start(context)
        found.append(listener.url)
        ready.set()
        await asyncio.to_thread(stop.wait)
        await listener.stop()
        await services.close()
    finally:
        ready.set()  # even if it failed to start: the thread raises the reason


def database_of(directory: Path) -> str:
    return f"sqlite:///{directory}/foliot.db"
