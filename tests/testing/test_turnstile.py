"""Planted trouble ends tasks without a word; any other error is told."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from foliot.domain.ids import RunId
from foliot.ports.storage import Storage
from foliot.testing.simulation.faults import Crash, Hiccup
from foliot.testing.simulation.turnstile import Hush, Turnstile, gated

STORES = ("ledger", "work", "trees", "admission", "orders", "definitions", "upkeep")


def troubled(error: BaseException) -> Storage:
    """A storage whose runs cannot be read."""

    async def get(run_ids: object) -> None:
        raise error

    parts: dict[str, Any] = dict.fromkeys((*STORES, "signal", "close"))
    storage = cast(Storage, SimpleNamespace(**parts, queries=SimpleNamespace(get_runs=get)))
    return gated(storage, Turnstile(Hush()), trees=lambda store: store)


async def complaints_of(work: Callable[[], Awaitable[object]]) -> list[BaseException]:
    """What the loop is told about a task that nobody waits for."""
    told: list[BaseException] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))

    async def body() -> None:
        await work()

    task = asyncio.create_task(body())
    await asyncio.wait([task])
    del task
    await asyncio.sleep(0)
    gc.collect()
    return told


@pytest.mark.parametrize("trouble", [Crash(), Hiccup("the disk is away")])
async def test_planted_trouble_is_retrieved(trouble: BaseException) -> None:
    storage = troubled(trouble)

    assert await complaints_of(lambda: storage.queries.get_runs([RunId("x")])) == []


async def test_trouble_that_nobody_planted_is_told() -> None:
    unforeseen = RuntimeError("nobody planted this")
    storage = troubled(unforeseen)

    assert await complaints_of(lambda: storage.queries.get_runs([RunId("x")])) == [unforeseen]


async def test_so_is_what_planted_trouble_leads_to() -> None:
    storage, consequence = troubled(Hiccup("the disk is away")), RuntimeError("a handler that is wrong")

    async def mishandle() -> None:
        try:
            await storage.queries.get_runs([RunId("x")])
        except Hiccup:
            raise consequence from None

    assert await complaints_of(mishandle) == [consequence]
