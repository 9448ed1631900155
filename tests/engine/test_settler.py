"""The settler saves settlements with their events, and continues immediately while there are more notes."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

import pytest

from foliot import Foliot, Workflow
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.engine.coordinator import settler as settler_module
from foliot.engine.coordinator.decider import TreeDecider
from foliot.engine.coordinator.pruner import ExecutionPruner
from foliot.engine.coordinator.settler import Settler
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.scheduler.janitor import RETENTION
from foliot.errors import StorageUnavailable
from foliot.ports.definitions import Deployment
from foliot.testing.builders import retention
from foliot.testing.inline import InlineEngine
from tests.engine.rig import Rig

WF = JobId("wf")


@pytest.fixture
def settler(rig: Rig) -> Settler:
    store, kinds = rig.storage.trees, rig.parts.trees
    return Settler(store, rig.ids, kinds, TreeDecider(store), wake=asyncio.Event())


async def with_a_note(rig: Rig) -> RunId:
    """Return an execution whose first step has ended."""
    await rig.job("extract")
    steps = (Step(name="first", job=JobId("extract")), Step(name="second", job=JobId("extract"), after=after("first")))
    await rig.storage.definitions.deploy(Deployment({WF: WorkflowSpec(steps=steps)}, (), ()))
    run_id = await rig.enqueue(WF)
    await rig.work()
    return run_id


def after(parent: str) -> tuple[Edge, ...]:
    return (Edge(parent=parent),)


async def changed_steps(rig: Rig) -> list[Any]:
    events = await rig.storage.queries.events(after=0, limit=100)
    return [item for event in events if event.kind is EventKind.STEPS_CHANGED for item in event.items]


async def test_a_saved_settlement_writes_an_event(rig: Rig, settler: Settler) -> None:
    run_id = await with_a_note(rig)

    await settler.round()

    assert await changed_steps(rig) == [
        [run_id, "first", None],
        [run_id, "second", None],
        [run_id, "first", "success"],
    ]


async def test_after_all_notes_were_settled_the_next_round_waits_for_another_note(rig: Rig, settler: Settler) -> None:
    await with_a_note(rig)

    assert await settler.round() != IMMEDIATELY


async def test_notes_beyond_the_limit_of_a_round_are_settled_immediately_afterwards(
    rig: Rig, settler: Settler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settler_module, "NOTES", 1)
    await with_a_note(rig)
    [tree] = (await rig.storage.trees.unsettled(1, notes_per_tree=1)).trees
    await rig.storage.orders.cancel([tree.tree.run_id])

    assert await settler.round() == IMMEDIATELY
    assert await settler.round() != IMMEDIATELY


async def test_the_end_of_an_execution_is_logged_once_it_is_saved(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    run_id = await with_a_note(rig)
    with caplog.at_level(logging.INFO, "foliot.engine.coordinator"):
        await rig.settle()
        await rig.work()
        await rig.settle()

    [line] = [vars(record) for record in caplog.records if record.message == "execution_ended"]
    assert (line["run"], line["job"], line["status"]) == (run_id, WF, "success")


async def test_a_settlement_that_another_process_has_saved_writes_no_event(
    rig: Rig, settler: Settler, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_late(settlements: Iterable[Any], **_: object) -> list[RunId]:
        assert list(settlements)
        return []

    await with_a_note(rig)
    monkeypatch.setattr(rig.storage.trees, "settle", too_late)

    assert await settler.round() != IMMEDIATELY

    assert [result for _, _, result in await changed_steps(rig)] == [None]


async def test_an_execution_that_ends_as_it_is_opened_is_pruned_as_well(app: Foliot) -> None:
    """Its only step is paused, so that nothing has to run."""
    flow = Workflow("etl")
    flow.step("only", shell="true")
    app.workflow(flow)

    async with InlineEngine(app) as engine:
        await app.workflows.pause_step("etl", "only")
        first = await app.workflows.start("etl")
        for _ in range(RETENTION.executions_per_workflow or 0):
            await app.workflows.start("etl")
        await engine.run_until_idle()

        assert await app.workflows.status(first) is None


async def test_settling_goes_on_when_surplus_executions_cannot_be_removed(caplog: pytest.LogCaptureFixture) -> None:
    class Away:
        async def prune_executions(self, *_: object, **__: object) -> int:
            raise StorageUnavailable("away")

    pruner = ExecutionPruner(Away(), retention(executions_per_workflow=1))  # type: ignore[arg-type]  # the one verb that counts

    await pruner.executions_ended({"etl"})

    assert [record.message for record in caplog.records] == ["executions_not_pruned"]
