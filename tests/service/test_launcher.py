"""A launcher starts what a scheduler names: a version of a workflow for somebody, or a job."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from foliot import Foliot
from foliot.service.executions import ExecutionView
from foliot.testing.inline import InlineEngine

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def engine() -> AsyncIterator[InlineEngine]:
    """One with a job, and a workflow in two versions."""
    app = Foliot()
    app.shell("backup", "true")
    async with InlineEngine(app) as engine:
        for command in ("echo old", "echo new"):
            await app.deploy_workflow({"id": "etl", "steps": [{"name": "only", "command": command}]})
        yield engine


async def executions(app: Foliot) -> list[ExecutionView]:
    """Of the workflow, oldest first."""
    found = [await app.workflow_status(run.id) for run in reversed(await app.runs(job="etl"))]
    return [one for one in found if one is not None]


@pytest.mark.proves("R4-29")
async def test_the_version_that_is_named_is_started_and_the_newest_if_none_is(engine: InlineEngine) -> None:
    launcher = engine.app.launcher

    started = [
        await launcher.start("etl", version, "ada", WHEN, f"key-{number}")
        for number, version in enumerate([1, None, 2])
    ]
    await engine.run_until_idle()

    assert started == [True, True, True]
    assert [one.version for one in await executions(engine.app)] == [1, 2, 2]


@pytest.mark.proves("R4-29")
async def test_the_same_key_starts_nothing_more(engine: InlineEngine) -> None:
    launcher = engine.app.launcher

    assert [await launcher.start("etl", 1, None, WHEN, "key") for _ in range(3)] == [True, True, True]

    assert len(await engine.app.runs(job="etl")) == 1


async def test_what_does_not_exist_is_answered_with_no(engine: InlineEngine) -> None:
    launcher = engine.app.launcher

    assert not await launcher.start("etl", 7, None, WHEN, "a")
    assert not await launcher.start("stranger", None, None, WHEN, "b")
    assert await engine.app.runs() == []


async def test_a_job_is_started_by_its_id(engine: InlineEngine) -> None:
    assert await engine.app.launcher.start("backup", None, None, WHEN, "key")

    [run] = await engine.app.runs(job="backup")
    assert run.trigger == "schedule"
