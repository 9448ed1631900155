"""The last user of an application closes it."""

from pathlib import Path

import pytest

from foliot import Foliot
from foliot.errors import InUse
from foliot.testing.inline import InlineEngine
from tests.interfaces.serving import outcome, served, started


def with_parents(app: Foliot) -> None:
    """Register a job that opens the application of its own worker, and one that closes it."""

    @app.job
    async def child() -> int:
        return 1

    @app.job
    async def opens() -> str:
        async with app:
            return await app.enqueue("child")

    @app.job
    async def closes() -> None:
        await app.close()


async def test_a_job_may_open_the_application_of_its_own_server(app: Foliot) -> None:
    with_parents(app)

    async with served(app):
        opens = await outcome(app, "opens")
        child = await app.runs.wait(str(opens.output_payload), timeout=30)

    assert (opens.status, child.status) == ("success", "success")


async def test_a_job_cannot_close_the_application_of_its_own_server(app: Foliot) -> None:
    with_parents(app)

    async with served(app):
        closes = await outcome(app, "closes")
        child = await outcome(app, "child")

    assert closes.error_message is not None
    assert "the application is still in use" in closes.error_message
    assert child.status == "success"


async def test_a_running_node_keeps_the_application_open(app: Foliot) -> None:
    with_parents(app)

    async with started(app):
        runs = [await outcome(app, job) for job in ("opens", "closes", "child")]
    await app.close()

    assert [run.status for run in runs] == ["success", "failed", "success"]


async def test_the_last_block_closes_the_application(app: Foliot) -> None:
    async with app:
        services = await app.open()
        async with app:
            pass
        assert await app.open() is services
        with pytest.raises(InUse, match="async with app"):
            await app.close()
        assert await app.open() is services

    async with app:
        assert await app.open() is not services


async def test_a_job_under_the_inline_engine_may_open_but_not_close(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/production.db")
    with_parents(app)

    async with InlineEngine(app) as engine:
        for job in ("opens", "closes"):
            await app.enqueue(job)
        await engine.run_until_idle()
        runs = {run.job_id: run.status.value for run in await app.runs.page()}

    assert runs == {"opens": "success", "closes": "failed", "child": "success"}
    assert not (tmp_path / "production.db").exists()


async def test_the_inline_engine_refuses_an_application_that_is_open(app: Foliot) -> None:
    async with app:
        with pytest.raises(InUse, match="open on another storage"):
            await InlineEngine(app).__aenter__()


async def test_a_plain_job_under_the_inline_engine_may_enqueue_but_not_wait() -> None:
    app = Foliot()
    app.job(id="child")(lambda: 1)
    app.job(id="enqueues")(lambda: app.wait(app.enqueue("child")))
    app.job(id="waits")(lambda: app.wait(app.runs.wait(app.wait(app.enqueue("child")))))

    async with InlineEngine(app) as engine:
        for job in ("enqueues", "waits"):
            await app.enqueue(job)
        await engine.run_until_idle()
        runs = {run.job_id: run for run in await app.runs.page()}

    assert (runs["enqueues"].status, runs["waits"].status, runs["child"].status) == ("success", "failed", "success")
    assert "WrongLoop" in str(runs["waits"].error_message)
