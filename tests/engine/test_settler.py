"""The duty that leads executions on: whoever was faster is the one who tells, and nobody rests while there is more."""

from collections.abc import Iterable
from typing import Any

import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.workflow.execution import Progress
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.engine.loop import AT_ONCE
from foliot.engine.plans import Plans
from foliot.engine.settler import Settler
from foliot.ports.definitions import Deployment
from tests.engine.rig import Rig

WF = JobId("wf")


@pytest.fixture
def told() -> list[Progress]:
    return []


@pytest.fixture
def settler(rig: Rig, told: list[Progress]) -> Settler:
    return Settler(rig.storage, rig.ids, Plans(rig.storage), tell=told.append)


async def with_a_note(rig: Rig) -> RunId:
    """An execution whose first step has ended."""
    await rig.job("extract")
    steps = (Step(name="first", job=JobId("extract")), Step(name="second", job=JobId("extract"), after=after("first")))
    await rig.storage.workflows.deploy(Deployment({WF: WorkflowSpec(steps=steps)}, (), ()))
    run_id = await rig.enqueue(WF)
    for _ in range(3):
        await rig.work()
    return run_id


def after(parent: str) -> tuple[Edge, ...]:
    return (Edge(parent=parent),)


async def test_what_was_saved_is_told_and_followed_by_another_look_at_once(
    rig: Rig, settler: Settler, told: list[Progress]
) -> None:
    run_id = await with_a_note(rig)

    assert await settler.round() == AT_ONCE

    assert [(one.run_id, sorted(one.steps)) for one in told] == [(run_id, ["first", "second"])]
    assert await settler.round() != AT_ONCE


async def test_what_somebody_else_has_saved_is_not_told_again(
    rig: Rig, settler: Settler, told: list[Progress], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_late(settlements: Iterable[Any], **_: object) -> list[RunId]:
        assert list(settlements)
        return []

    await with_a_note(rig)
    monkeypatch.setattr(rig.storage.executions, "settle", too_late)

    assert await settler.round() != AT_ONCE

    assert told == []
