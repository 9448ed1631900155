"""Any callable can be a job, and an awaitable result is awaited."""

import asyncio
import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.errors import InvalidJob
from foliot.testing.inline import InlineEngine
from tests.interfaces.serving import outcome, served


async def add(a: int = 1, b: int = 2) -> int:
    await asyncio.sleep(0)
    return a + b


@functools.wraps(add)
def decorated(*arguments: Any, **named: Any) -> Any:
    """A plain decorator around a coroutine function."""
    return add(*arguments, **named)


@functools.wraps(add)
def run_here(*arguments: Any, **named: Any) -> Any:
    """A decorator that makes a plain function of a coroutine function."""
    return asyncio.run(add(*arguments, **named))


class Adder:
    async def __call__(self) -> int:
        return await add()


@dataclass
class Sum:
    """A dataclass with equality, which is not hashable."""

    a: int

    def __call__(self) -> int:
        return self.a + 2


FUNCTIONS: list[Callable[..., Any]] = [
    add,
    decorated,
    run_here,
    Adder(),
    functools.partial(add, 1),
    Sum(1),
    lambda: add(),
]


@pytest.fixture
def app(tmp_path: Path) -> Foliot:
    return Foliot(f"sqlite:///{tmp_path}/foliot.db")


@pytest.mark.parametrize("function", FUNCTIONS, ids=range(len(FUNCTIONS)))
async def test_an_awaitable_result_of_a_job_is_awaited(app: Foliot, function: Callable[..., Any]) -> None:
    app.job(id="job")(function)

    async with served(app):
        run = await outcome(app, "job")

    assert (run.status, run.output_payload) == ("success", 3)


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f is not run_here])
async def test_the_inline_engine_awaits_an_awaitable_result(function: Callable[..., Any]) -> None:
    app = Foliot()
    app.job(id="job")(function)

    async with InlineEngine(app) as engine:
        await app.enqueue("job")
        await engine.run_until_idle()
        [run] = await app.runs.page()

    assert (run.status, run.output_payload) == ("success", 3)


async def test_an_awaitable_result_can_be_cancelled(app: Foliot) -> None:
    began, ended = threading.Event(), threading.Event()

    async def endless() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    app.job(id="job")(lambda: endless())

    async with served(app):
        run_id = await app.enqueue("job")
        assert await asyncio.to_thread(began.wait, 30)
        await app.runs.cancel(run_id)
        run = await app.runs.wait(run_id, timeout=30)

    assert (run.status, ended.is_set()) == ("cancelled", True)


async def test_a_builtin_without_signature_is_called_with_the_payload(app: Foliot) -> None:
    app.job(id="job")(dict)

    async with served(app):
        run = await app.runs.wait(await app.enqueue("job", {"a": 1}), timeout=30)

    assert run.output_payload == {"a": 1}


async def test_a_coroutine_returned_after_cancellation_is_closed(app: Foliot) -> None:
    began, go_on = threading.Event(), threading.Event()

    @app.job
    def slow() -> Any:
        began.set()
        go_on.wait()
        return add()

    async with served(app) as node:
        run_id = await app.enqueue(slow)
        assert await asyncio.to_thread(began.wait, 30)
        await app.runs.cancel(run_id)
        run = await app.runs.wait(run_id, timeout=30)
        go_on.set()
        while node.abandoned:
            await asyncio.sleep(0.01)

    assert run.status == "cancelled"


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (functools.partial(add, 1), "has no name"),
        ("add", "a job must be a function, not str"),
        (add(), "a job must be a function, not coroutine"),
    ],
)
def test_an_object_that_cannot_be_a_job_is_refused(app: Foliot, thing: Any, message: str) -> None:
    with pytest.raises(InvalidJob, match=message) as refused:
        app.job(thing)

    assert "id=" in refused.value.hint
    if asyncio.iscoroutine(thing):
        thing.close()


async def test_enqueueing_an_object_that_is_not_a_job_is_refused(app: Foliot) -> None:
    async with app:
        with pytest.raises(InvalidJob, match="is not a job of this application"):
            await app.enqueue(Sum(1))
