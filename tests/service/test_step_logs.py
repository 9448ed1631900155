"""Following the logs of all steps of an execution."""

import asyncio
from datetime import timedelta

from foliot import Foliot, Workflow
from foliot.domain.ids import RunId
from foliot.service.queries.step_logs import StepLogs
from foliot.testing.inline import InlineEngine


def a_flow(*commands: str) -> Foliot:
    """Build a workflow of sequential steps s1, s2 and so on."""
    app, flow = Foliot(), Workflow("flow")
    for number, command in enumerate(commands, start=1):
        step = flow.step(f"s{number}", shell=command)
        if number > 1:
            step.after(f"s{number - 1}")
    app.workflow(flow)
    return app


async def logs_of(app: Foliot, execution_id: str, page: int = 100) -> StepLogs:
    services = await app.open()
    return StepLogs(services.storage, services.queries.reader, RunId(execution_id), page=page)


async def printed(logs: StepLogs) -> list[tuple[str, bytes]]:
    return [(step, piece.data) async for step, piece in logs.new() if piece.stream == "stdout"]


async def finish(engine: InlineEngine, app: Foliot, execution_id: str) -> None:
    while not (await app.runs.get(execution_id)).status.is_terminal:
        await engine.join()


async def test_step_logs_continue_where_they_were() -> None:
    app = a_flow("echo one", "echo two")
    async with InlineEngine(app) as engine:
        execution_id = await app.workflows.start("flow")
        logs = await logs_of(app, execution_id)
        assert (await printed(logs), logs.is_over) == ([], False)
        await finish(engine, app, execution_id)

        assert await printed(logs) == [("s1", b"one\n"), ("s2", b"two\n")]
        assert logs.is_over
        assert await printed(logs) == []


async def test_step_logs_contain_those_of_inner_workflows() -> None:
    app = a_flow("echo one")
    outer = Workflow("outer")
    outer.step("sub", workflow="flow")
    app.workflow(outer)
    async with InlineEngine(app) as engine:
        execution_id = await app.workflows.start("outer")
        logs = await logs_of(app, execution_id)
        assert await printed(logs) == []
        await finish(engine, app, execution_id)

        assert await printed(logs) == [("sub.s1", b"one\n")]


async def test_following_step_logs_ends_with_the_execution() -> None:
    app = a_flow("echo one", "echo two")
    async with InlineEngine(app) as engine:
        execution_id = await app.workflows.start("flow")
        logs = await logs_of(app, execution_id)
        seen: list[str] = []

        async def follow() -> None:
            async for step, piece in logs.follow():
                if piece.stream == "stdout":
                    seen.append(step)

        following = asyncio.create_task(follow())
        await finish(engine, app, execution_id)
        await engine.advance(timedelta(seconds=1))
        await following

        assert seen == ["s1", "s2"]


async def test_step_logs_find_runs_on_further_pages() -> None:
    app = a_flow(*(f"echo {number}" for number in range(7)))
    async with InlineEngine(app) as engine:
        execution_id = await app.workflows.start("flow")
        await finish(engine, app, execution_id)

        assert len(await printed(await logs_of(app, execution_id, page=2))) == 7


async def test_step_logs_of_a_removed_execution_end() -> None:
    app = a_flow("true")
    async with InlineEngine(app):
        logs = await logs_of(app, "01NOWHERE")

        assert await printed(logs) == []
        assert logs.is_over
