"""What an execution shows: its id, its workflow, when it began, and the result of each step."""

from datetime import UTC, datetime, timedelta

import pytest

from foliot import Foliot
from foliot.testing.inline import InlineEngine

AT_START = datetime(2026, 1, 1, tzinfo=UTC)
FLOW = {
    "id": "etl",
    "steps": [
        {"name": "extract", "approve": True},
        {"name": "load", "after": "extract", "approve": True},
        {"name": "alarm", "after": {"step": "extract", "when": ["failure"]}, "approve": True},
    ],
}


@pytest.mark.proves("R2-11", "R2-14")
async def test_an_execution_shows_its_id_workflow_start_and_results() -> None:
    app = Foliot()
    async with InlineEngine(app) as engine:
        await app.workflows.deploy(FLOW)
        await engine.advance(timedelta(minutes=5))
        execution_id = await app.workflows.start("etl")
        await engine.run_until_idle()
        await engine.advance(timedelta(minutes=1))
        await app.workflows.approve(execution_id, "extract")
        await engine.run_until_idle()

        shown = await app.workflows.execution(execution_id)
        [listed] = await app.workflows.active()

    assert (shown.id, shown.workflow_id, shown.status) == (execution_id, "etl", "running")
    assert (shown.started_at, shown.finished_at) == (AT_START + timedelta(minutes=5), None)
    assert shown.results == {"extract": "success", "load": None, "alarm": "skipped"}
    assert (listed.id, listed.started_at) == (shown.id, shown.started_at)


@pytest.mark.proves("R2-59")
async def test_active_executions_are_those_that_are_not_over() -> None:
    app = Foliot()
    async with InlineEngine(app) as engine:
        await app.workflows.deploy(FLOW)
        over, running = [await app.workflows.start("etl") for _ in range(2)]
        await engine.run_until_idle()
        before = await app.workflows.active()
        for step in ("extract", "load"):
            await app.workflows.approve(over, step)
            await engine.run_until_idle()

        assert {one.id for one in before} == {over, running}
        assert [one.id for one in await app.workflows.active()] == [running]
