"""A workflow is deleted while an execution of it begins, on a virtual clock."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.errors import JobInUse
from foliot.testing.inline import InlineEngine

FLOW = {"id": "etl", "steps": [{"name": "extract", "command": "true"}]}


@pytest.fixture
async def engine(app: Foliot) -> AsyncIterator[InlineEngine]:
    async with InlineEngine(app) as engine:
        await app.workflows.deploy(FLOW)
        yield engine


def interrupt(
    engine: InlineEngine, monkeypatch: pytest.MonkeyPatch, store_and_verb: str, deed: Callable[[], Awaitable[object]]
) -> None:
    """Do something before the next call of that verb of the storage."""
    name, verb = store_and_verb.split(".")
    store = getattr(engine._storage, name)
    original, pending = getattr(store, verb), [deed]

    async def call(*arguments: Any, **named: Any) -> Any:
        if pending:
            await pending.pop()()
        return await original(*arguments, **named)

    monkeypatch.setattr(store, verb, call)


@pytest.mark.parametrize("store_and_verb", ["trees.load", "trees.open"])
async def test_deleting_a_workflow_cancels_a_claimed_execution_that_is_not_opened(
    app: Foliot, engine: InlineEngine, monkeypatch: pytest.MonkeyPatch, store_and_verb: str
) -> None:
    execution_id = await app.workflows.start("etl")
    interrupt(engine, monkeypatch, store_and_verb, lambda: app.workflows.delete("etl"))

    await engine.run_until_idle()

    run = await app.runs.get(execution_id)
    assert (run.status, run.reason, run.attempt) == ("cancelled", "cancelled", 1)
    assert await app.workflows.status(execution_id) is None
    assert await app.runs.page(job="etl.extract") == []


async def test_a_cached_workflow_that_was_deleted_is_not_opened(
    app: Foliot, engine: InlineEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await app.workflows.start("etl")
    await engine.run_until_idle()
    execution_id = await app.workflows.start("etl")
    interrupt(engine, monkeypatch, "trees.open", lambda: app.workflows.delete("etl"))

    await engine.run_until_idle()

    assert (await app.runs.get(execution_id)).status == "cancelled"
    assert len(await app.runs.page(job="etl.extract")) == 1


async def test_a_job_that_takes_the_id_of_a_workflow_is_not_opened_as_one(
    app: Foliot, engine: InlineEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = await app.open()

    async def replace() -> None:
        await app.workflows.delete("etl")
        await services.jobs.put({JobId("etl"): JobSpec(kind="shell", spec={"command": "true"})})

    execution_id = await app.workflows.start("etl")
    interrupt(engine, monkeypatch, "trees.open", replace)

    await engine.run_until_idle()

    run = await app.runs.get(execution_id)
    assert (run.status, run.reason) == ("failed", "handler_missing")
    assert await app.workflows.status(execution_id) is None


async def test_an_opening_whose_lease_was_lost_changes_nothing(
    app: Foliot, engine: InlineEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    heartbeat = engine._coordinator.worker.heartbeat

    async def lose_the_lease() -> None:
        assert heartbeat.worker is not None
        await engine._storage.work.retire(heartbeat.worker.id)
        await engine._timekeeping.reaper.round()

    execution_id = await app.workflows.start("etl")
    interrupt(engine, monkeypatch, "trees.open", lose_the_lease)
    await engine.run_until_idle()
    assert (await app.runs.get(execution_id)).status == "queued"

    await heartbeat.round()
    await engine.join()

    run = await app.runs.get(execution_id)
    assert (run.status, run.attempt) == ("success", 2)
    assert len(await app.runs.page(job="etl.extract")) == 1


async def test_a_workflow_redeployed_meanwhile_is_opened_with_its_new_version(
    app: Foliot, engine: InlineEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def replace() -> None:
        await app.workflows.delete("etl")
        await app.workflows.deploy({**FLOW, "steps": [{"name": "load", "command": "true"}]})

    execution_id = await app.enqueue("etl")
    interrupt(engine, monkeypatch, "trees.open", replace)

    await engine.run_until_idle()
    await engine._coordinator.worker.heartbeat.round()
    await engine.join()

    execution = await app.workflows.status(execution_id)
    assert execution is not None
    assert (execution.version, execution.results) == (2, {"load": "success"})


async def test_a_workflow_is_not_renamed_while_its_execution_is_opened(
    app: Foliot, engine: InlineEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = await app.open()
    execution_id = await app.workflows.start("etl")
    names = {JobId("etl"): JobId("elt"), JobId("etl.extract"): JobId("elt.extract")}

    async def rename() -> None:
        with pytest.raises(JobInUse, match="is starting"):
            await services.storage.definitions.rename_jobs(names)

    interrupt(engine, monkeypatch, "trees.open", rename)

    await engine.run_until_idle()

    execution = await app.workflows.status(execution_id)
    assert execution is not None
    assert (execution.workflow_id, execution.status) == ("etl", "success")
