"""Explanations of runs and steps that have not started."""

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
from foliot.interfaces.cli.render.explanation import explain
from foliot.service.queries.executions import ExecutionPage
from foliot.testing.clock import START
from foliot.testing.inline import InlineEngine
from tests.interfaces.conftest import Call


@pytest.fixture
def app() -> Foliot:
    """Jobs: `alone` has max_concurrent = 1 and does not end, `broken` is retried after a minute."""
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
    """Start an execution with one step, and run until idle."""
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
    return explain((await (await engine.app.open()).queries.runs.page(run_id or "")).why)


async def test_a_failed_step_explains_when_its_next_attempt_is(engine: InlineEngine) -> None:
    page = await begin(engine, job="broken")

    [step] = page.execution.steps
    assert why_only(page) == "attempt 1 did not succeed; next attempt at 2026-01-01 00:01:00Z"
    assert await why_run(engine, step.run_id) == why_only(page)


async def test_a_waiting_step_names_the_run_that_holds_its_limit(engine: InlineEngine) -> None:
    first = await engine.app.enqueue("alone")
    await engine.run_until_idle()

    page = await begin(engine, job="alone")

    [step] = page.execution.steps
    assert why_only(page) == f"waiting: max_concurrent=1, held by {first}"
    assert await why_run(engine, step.run_id) == why_only(page)


async def test_a_step_with_overlap_queue_names_the_earlier_run(engine: InlineEngine) -> None:
    first = await begin(engine, job="free", overlap="queue")

    page = await begin(engine, job="free", overlap="queue")

    assert why_only(page) == f"waiting for the end of {first.execution.steps[0].run_id}"


async def test_a_gated_step_says_until_when_and_for_what_its_gate_waits(engine: InlineEngine) -> None:
    await engine.app.enqueue("free")
    await engine.run_until_idle()

    page = await begin(engine, command="true", depends_on=["free"], wait=600)

    until = "until 2026-01-01 00:10:00Z at most"
    assert why_only(page) == f"due at 2026-01-01 00:00:00Z, waiting for its gate, {until}: free"


async def test_a_gated_step_explains_the_gate_of_its_own_version(engine: InlineEngine) -> None:
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


async def test_a_step_of_a_deleted_workflow_says_what_it_waits_for(engine: InlineEngine) -> None:
    first = await engine.app.enqueue("alone")
    await engine.run_until_idle()
    page = await begin(engine, command="true", depends_on=["alone"], wait=600)

    await engine.app.workflows.delete("flow")

    again = await page_of(engine, page.execution.id)
    assert why_only(again).endswith("waiting for its gate, until 2026-01-01 00:10:00Z at most: alone")
    assert (await engine.app.runs.get(first)).status == "running"


async def test_a_step_explains_the_limit_of_its_own_version(engine: InlineEngine) -> None:
    services = await engine.app.open()
    first = await engine.app.enqueue("alone")
    await engine.run_until_idle()
    page = await begin(engine, job="alone")
    spec = (await services.jobs.record("alone")).spec

    await services.jobs.put({JobId("alone"): replace(spec, options=replace(spec.options, max_concurrent=7))})

    again = await page_of(engine, page.execution.id)
    assert why_only(again) == f"waiting: max_concurrent=1, held by {first}"


async def test_the_wait_of_a_step_gate_begins_when_the_step_could_start(engine: InlineEngine) -> None:
    await engine.app.enqueue("free")
    step = {"name": "only", "command": "true", "depends_on": ["free"], "wait": 600}
    await engine.app.workflows.deploy({"id": "flow", "steps": [step]})
    planned = to_datetime(START) - timedelta(hours=1)
    assert await engine.app.launcher.start("flow", None, None, planned, "key")
    await engine.run_until_idle()
    [run] = await engine.app.runs.page(job="flow.only")

    assert run.scheduled_for == planned
    assert "until 2026-01-01 00:10:00Z at most" in await why_run(engine, run.id)


async def test_a_running_step_has_no_waiting_reason(engine: InlineEngine) -> None:
    page = await begin(engine, job="free")

    assert (page.execution.steps[0].status, page.waits) == ("running", {})


def test_workflows_show_lists_waiting_steps_below_the_picture(call: Call, plant: Path) -> None:
    asyncio.run(begin_without_worker(f"sqlite:///{plant}/foliot.db"))

    lines = call("workflows", "show", "odd").out.splitlines()
    [shown] = call("workflows", "show", "odd", "--json").objects

    waits = 'no worker of queue "nobody" is alive; start one with: foliot worker --queue nobody'
    assert [line.split(maxsplit=1) for line in lines[-2:]] == [["WAITING", "WHY"], ["only", waits]]
    assert shown["execution"]["steps"][0]["why"] == waits
    assert "WAITING" not in call("workflows", "show", "release").out  # an approval waits for a person, not for a time


async def begin_without_worker(url: str) -> None:
    """Start an execution whose step waits in a queue without workers."""
    async with Foliot(url) as app:
        await app.workflows.deploy({"id": "odd", "steps": [{"name": "only", "command": "true", "queue": "nobody"}]})
        await app.workflows.start("odd")
        node = await app.node(Settings(label="test"))
        await node.start()
        while not await app.runs.page(job="odd.only"):
            await asyncio.sleep(0.01)
        await node.stop()
