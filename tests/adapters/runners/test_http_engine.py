"""Http runs under the engine: timeouts and cancellation."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.run import Status
from foliot.testing.inline import InlineEngine
from tests.adapters.outbound.servers import Server, reply, saying
from tests.adapters.runners.attempts import until

SILENT = saying(b"")
HEADERS_ONLY = saying(reply(200, b"", content_length="100"))
DRIP = saying(reply(200, b"x", content_length="100"))


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server({"/": reply(200, b"hello")}) as running:
        yield running


@pytest.fixture
async def engine() -> AsyncIterator[InlineEngine]:
    async with InlineEngine(Foliot()) as running:
        yield running


async def start(engine: InlineEngine, server: Server, **options: Any) -> str:
    """Define an http job, start a run, and wait until its request reaches the server."""
    services = await engine.app.open()
    job = JobSpec(kind="http", spec={"url": server.url()}, options=Options(**options), source="app")
    await services.jobs.put({JobId("call"): job})
    run_id = await engine.app.enqueue("call")
    await engine.run_until_idle()
    await until(lambda: server.asked)
    return run_id


async def test_an_http_run_has_the_status_as_its_exit_code(engine: InlineEngine, server: Server) -> None:
    run_id = await start(engine, server)
    await engine.join()

    run = await engine.app.runs.get(run_id)
    assert (run.status, run.exit_code) == (Status.SUCCESS, 200)


@pytest.mark.proves("S7")
@pytest.mark.parametrize("script", [SILENT, HEADERS_ONLY, DRIP])
@pytest.mark.parametrize(("options", "limit"), [({}, 30), ({"timeout": Millis(90 * SECOND)}, 90)])
async def test_a_request_ends_at_the_timeout_of_its_job(
    engine: InlineEngine, server: Server, script: Any, options: dict[str, Any], limit: int
) -> None:
    server.answers["/"] = script
    run_id = await start(engine, server, **options)

    await engine.advance(timedelta(seconds=limit - 1))
    assert (await engine.app.runs.get(run_id)).status is Status.RUNNING
    await engine.advance(timedelta(seconds=1))
    await engine.join()

    run = await engine.app.runs.get(run_id)
    assert (run.status, run.error_message) == (Status.TIMEOUT, f"took longer than {limit} s")
    await until(server.is_left.is_set)


@pytest.mark.proves("S5")
@pytest.mark.parametrize("script", [SILENT, HEADERS_ONLY, DRIP])
async def test_cancelling_a_run_ends_its_request_immediately(engine: InlineEngine, server: Server, script: Any) -> None:
    server.answers["/"] = script
    run_id = await start(engine, server)

    await engine.app.runs.cancel(run_id)
    await engine.run_until_idle()
    await engine.join()
    await until(server.is_left.is_set)
    await engine.advance(timedelta(minutes=5))

    assert (await engine.app.runs.get(run_id)).status is Status.CANCELLED
