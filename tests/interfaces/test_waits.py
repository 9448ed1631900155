"""What steps, and runs, that have not begun wait for."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.instant import to_datetime
from foliot.engine.settings import Settings
from foliot.interfaces.cli.render.execution import why_step
from foliot.interfaces.cli.render.explanation import words
from foliot.service.queries.executions import ExecutionPage
from foliot.testing.clock import START
from foliot.testing.inline import InlineEngine
from tests.interfaces.conftest import Call


@pytest.fixture
def app() -> Foliot:
    """Jobs: `alone` runs once at a time and never ends by itself, `broken` is tried again after a minute."""
    app = Foliot()

    @app.job(max_concurrent=1)
    async def alone() -> None:
        await asyncio.Event().wait()

    @app.job(retries=1, retry_delay=60)
    async def broken() -> None:
        raise ValueError("no")

    @app.job
    async def free() -> None:
        await asyncio.Event().wait()

    return app


@pytest.fixture
async def engine(app: Foliot) -> AsyncIterator[InlineEngine]:
    async with InlineEngine(app) as engine:
        yield engine


async def begin(engine: InlineEngine, **step: object) -> ExecutionPage:
    """An execution with one step, as far as it comes."""
    app = engine.app
    await app.workflows.deploy({"id": "flow", "steps": [{"name": "only", **step}]})
    execution_id = await app.workflows.start("flow")
    await engine.run_until_idle()
    return await page_of(engine, execution_id)


async def page_of(engine: InlineEngine, execution_id: str) -> ExecutionPage:
    page = await (await engine.app.open()).queries.workflows.execution(execution_id)
    assert page is not None
    return page


def why_only(page: ExecutionPage) -> str:
    return why_step(page, page.execution.steps[0])


async def why_run(engine: InlineEngine, run_id: str | None) -> str:
    return words((await (await engine.app.open()).queries.runs.page(run_id or "")).why)


async def test_a_step_says_when_it_is_tried_again(engine: InlineEngine) -> None:
    page = await begin(engine, job="broken")

    [step] = page.execution.steps
    assert why_only(page) == "attempt 1 did not succeed; it is tried again at 2026-01-01 00:01:00Z"
    assert await why_run(engine, step.run_id) == why_only(page)


async def test_a_step_says_which_run_has_its_place(engine: InlineEngine) -> None:
    first = await engine.app.enqueue("alone")
    await engine.run_until_idle()

    page = await begin(engine, job="alone")

    [step] = page.execution.steps
    assert why_only(page) == f"it waits for a place (max_concurrent 1) until {first} ends"
    assert await why_run(engine, step.run_id) == why_only(page)


async def test_a_step_that_lets_an_earlier_one_end_says_which(engine: InlineEngine) -> None:
    first = await begin(engine, job="free", overlap="queue")

    page = await begin(engine, job="free", overlap="queue")

    assert why_only(page) == f"it waits for a place until {first.execution.steps[0].run_id} ends"


async def test_a_step_says_how_long_its_gate_waits_and_for_what(engine: InlineEngine) -> None:
    await engine.app.enqueue("free")
    await engine.run_until_idle()

    page = await begin(engine, command="true", depends_on=["free"], wait=600)

    until = "until 2026-01-01 00:10:00Z at most"
    assert why_only(page) == f"it is due at 2026-01-01 00:00:00Z and waits for its gate, {until}: free"


async def test_a_step_says_what_the_gate_asks_that_its_execution_began_with(engine: InlineEngine) -> None:
    for name in ("free", "alone"):
        await engine.app.enqueue(name)
    await engine.run_until_idle()
    page = await begin(engine, command="true", depends_on=["free"], wait=600)
    before = why_only(page)

    later = {"name": "only", "command": "true", "depends_on": ["alone"], "wait": 60}
    await engine.app.workflows.deploy({"id": "flow", "steps": [later]})

    again = await page_of(engine, page.execution.id)
    assert why_only(again) == before
    assert before.endswith("until 2026-01-01 00:10:00Z at most: free")
    assert await why_run(engine, again.execution.steps[0].run_id) == before


async def test_a_step_of_a_deleted_workflow_still_says_what_it_waits_for(engine: InlineEngine) -> None:
    first = await engine.app.enqueue("alone")
    await engine.run_until_idle()
    page = await begin(engine, command="true", depends_on=["alone"], wait=600)

    await engine.app.workflows.delete("flow")

    again = await page_of(engine, page.execution.id)
    assert why_only(again).endswith("waits for its gate, until 2026-01-01 00:10:00Z at most: alone")
    assert (await engine.app.runs.get(first)).status == "running"


async def test_a_step_says_which_limit_the_job_had_when_its_execution_began(engine: InlineEngine) -> None:
    services = await engine.app.open()
    first = await engine.app.enqueue("alone")
    await engine.run_until_idle()
    page = await begin(engine, job="alone")
    spec = (await services.jobs.record("alone")).spec

    await services.jobs.put({JobId("alone"): replace(spec, options=replace(spec.options, max_concurrent=7))})

    again = await page_of(engine, page.execution.id)
    assert why_only(again) == f"it waits for a place (max_concurrent 1) until {first} ends"


async def test_a_gate_of_a_step_waits_from_when_the_step_could_start(engine: InlineEngine) -> None:
    await engine.app.enqueue("free")
    step = {"name": "only", "command": "true", "depends_on": ["free"], "wait": 600}
    await engine.app.workflows.deploy({"id": "flow", "steps": [step]})
    planned = to_datetime(START) - timedelta(hours=1)
    assert await engine.app.launcher.start("flow", None, None, planned, "key")
    await engine.run_until_idle()
    [run] = await engine.app.runs.page(job="flow.only")

    assert run.scheduled_for == planned
    assert "until 2026-01-01 00:10:00Z at most" in await why_run(engine, run.id)


async def test_a_step_that_runs_waits_for_nothing(engine: InlineEngine) -> None:
    page = await begin(engine, job="free")

    assert (page.execution.steps[0].status, page.waits) == ("running", {})


def test_the_picture_of_a_workflow_says_it_below(call: Call, plant: Path) -> None:
    asyncio.run(begin_without_worker(f"sqlite:///{plant}/foliot.db"))

    lines = call("workflows", "show", "odd").out.splitlines()
    [shown] = call("workflows", "show", "odd", "--json").objects

    waits = 'no worker of queue "nobody" is alive; start one with: foliot serve, or foliot worker'
    assert [line.split(maxsplit=1) for line in lines[-2:]] == [["WAITS", "WHY"], ["only", waits]]
    assert shown["execution"]["steps"][0]["why"] == waits
    assert "WAITS" not in call("workflows", "show", "release").out  # a question waits for a person, not for its moment


async def begin_without_worker(url: str) -> None:
    """An execution whose step waits in a queue that nobody works on."""
    async with Foliot(url) as app:
        await app.workflows.deploy({"id": "odd", "steps": [{"name": "only", "command": "true", "queue": "nobody"}]})
        await app.workflows.start("odd")
        node = await app.node(Settings(label="test"))
        await node.start()
        while not await app.runs.page(job="odd.only"):
            await asyncio.sleep(0.01)
        await node.stop()
