"""Injected errors end tasks silently; any other error is reported to the event loop."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from foliot.domain.ids import RunId
from foliot.ports.storage import Storage
from foliot.testing.simulation.faults import Crash, Hiccup
from foliot.testing.simulation.turnstile import Turnstile, VerbPause, with_turnstile

PORTS = ("ledger", "work", "items", "trees", "admission", "orders", "definitions", "upkeep")


def failing_storage(error: BaseException) -> Storage:
    """Return a storage whose runs cannot be read."""

    async def get_runs(run_ids: object) -> None:
        raise error

    parts: dict[str, Any] = dict.fromkeys((*PORTS, "signal", "close"))
    storage = cast(Storage, SimpleNamespace(**parts, queries=SimpleNamespace(get_runs=get_runs)))
    return with_turnstile(storage, Turnstile(VerbPause()), trees=lambda store: store)


async def unhandled_errors(work: Callable[[], Awaitable[object]]) -> list[BaseException]:
    """Return the errors that the event loop reports about a task that is not awaited."""
    errors: list[BaseException] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context["exception"]))

    async def body() -> None:
        await work()

    task = asyncio.create_task(body())
    await asyncio.wait([task])
    del task
    await asyncio.sleep(0)
    gc.collect()
    return errors


@pytest.mark.parametrize("error", [Crash(), Hiccup("the disk is away")])
async def test_an_injected_error_of_a_task_is_retrieved(error: BaseException) -> None:
    storage = failing_storage(error)

    assert await unhandled_errors(lambda: storage.queries.get_runs([RunId("x")])) == []


async def test_an_error_that_was_not_injected_is_reported() -> None:
    unexpected = RuntimeError("not injected")
    storage = failing_storage(unexpected)

    assert await unhandled_errors(lambda: storage.queries.get_runs([RunId("x")])) == [unexpected]


async def test_an_error_caused_by_an_injected_one_is_reported() -> None:
    storage, consequence = failing_storage(Hiccup("the disk is away")), RuntimeError("a handler that is wrong")

    async def mishandle() -> None:
        try:
            await storage.queries.get_runs([RunId("x")])
        except Hiccup:
            raise consequence from None

    assert await unhandled_errors(mishandle) == [consequence]
