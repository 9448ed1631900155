"""A server in the process of the test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from foliot import Foliot
from foliot.engine.node import Node
from foliot.engine.settings import Settings
from foliot.service.queries.run_view import RunView

SETTINGS: Final = Settings(label="test", slots=8)


@asynccontextmanager
async def served(app: Foliot, settings: Settings = SETTINGS) -> AsyncIterator[Node]:
    async with app, started(app, settings) as node:
        yield node


@asynccontextmanager
async def started(app: Foliot, settings: Settings = SETTINGS) -> AsyncIterator[Node]:
    """Start a node without a block."""
    async with running(await app.node(settings)) as node:
        yield node


@asynccontextmanager
async def running(node: Node) -> AsyncIterator[Node]:
    """A node that fails ends its test, which would otherwise wait forever."""
    test = asyncio.current_task()
    assert test is not None

    def give_up() -> None:
        test.cancel()

    node.on_failure = give_up
    await node.start()
    try:
        yield node
    except asyncio.CancelledError:
        if node.failure is None:
            raise
        test.uncancel()
        raise node.failure from None
    finally:
        node.on_failure = lambda: None
        await node.stop()


async def ended(app: Foliot, run_id: str) -> RunView:
    while not (run := await app.runs.get(run_id)).status.is_terminal:
        await asyncio.sleep(0.01)
    return run


async def outcome(app: Foliot, job: str) -> RunView:
    return await ended(app, await app.enqueue(job))
