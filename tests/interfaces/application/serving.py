"""A server in the test's own process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from foliot import Foliot
from foliot.engine.node import Settings
from foliot.service.views import RunView


@asynccontextmanager
async def served(app: Foliot) -> AsyncIterator[None]:
    async with app, started(app):
        yield


@asynccontextmanager
async def started(app: Foliot) -> AsyncIterator[None]:
    """A node alone, as somebody may start it who knows of no block."""
    node = await app.node(Settings(label="test", slots=4))
    await node.start()
    try:
        yield
    finally:
        await node.stop()


async def outcome(app: Foliot, job: str) -> RunView:
    return await app.wait_for_run(await app.enqueue(job), timeout=30)
