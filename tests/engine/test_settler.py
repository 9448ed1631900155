"""The settler reports its own settlements, and continues immediately while there may be more."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.tree.settlement import Progress
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.engine.coordinator.reader import TreeReader
from foliot.engine.coordinator.settler import Settler
from foliot.engine.loop import IMMEDIATELY
from foliot.ports.definitions import Deployment
from tests.engine.rig import Rig

WF = JobId("wf")


@pytest.fixture
def reported() -> list[Progress]:
    return []


@pytest.fixture
def settler(rig: Rig, reported: list[Progress]) -> Settler:
    store, kinds = rig.storage.trees, rig.parts.trees
    return Settler(store, rig.ids, kinds, TreeReader(store), wake=asyncio.Event(), listener=reported.append)


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


async def test_a_saved_settlement_is_reported_and_followed_by_another_round(
    rig: Rig, settler: Settler, reported: list[Progress]
) -> None:
    run_id = await with_a_note(rig)

    assert await settler.round() == IMMEDIATELY

    assert [(one.run_id, sorted(one.steps)) for one in reported] == [(run_id, ["first", "second"])]
    assert await settler.round() != IMMEDIATELY


async def test_a_settlement_that_another_process_has_saved_is_not_reported(
    rig: Rig, settler: Settler, reported: list[Progress], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_late(settlements: Iterable[Any], **_: object) -> list[RunId]:
        assert list(settlements)
        return []

    await with_a_note(rig)
    monkeypatch.setattr(rig.storage.trees, "settle", too_late)

    assert await settler.round() != IMMEDIATELY

    assert reported == []
