"""Chains from their scout to their end, on a virtual clock."""

from collections.abc import Callable
from typing import Any

import pytest

from foliot.domain.alert import AlertKind
from foliot.domain.chain.state import ChainOutcome, ChainState
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import MINUTE
from foliot.domain.run.run import Status
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.ports.chains import ChainFilter, ChainPage
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.invariants import check_invariants
from tests.engine.chains import DISK, ChainRig

MakeRig = Callable[..., ChainRig]


@pytest.fixture
def chains(storage: Storage, clock: VirtualClock) -> MakeRig:
    return lambda script=None, **fields: ChainRig(storage, clock, script, **fields)


def keys(steps: list[Any]) -> list[tuple[str | None, Status]]:
    return [(step.child_key, step.status) for step in steps]


@pytest.mark.proves("R3-01", "R3-02", "R3-05", "R3-08", "R3-09", "R3-34", "R3-35", "R3-38", "R3-40", "R3-46", "R3-49")
async def test_a_chain_assembles_itself_and_closes(chains: MakeRig) -> None:
    rig = chains({"scout": 10, "action": 0, "verify": 0})
    await rig.chain()
    run_id = await rig.start()
    begun = rig.clock.now()

    run = await rig.go_on(run_id)

    assert (run.status, run.reason, kind_of(run)) == (Status.SUCCESS, None, RunKind.CHAIN)
    steps = await rig.steps(run_id)
    assert keys(steps) == [("scout.1", Status.SUCCESS), ("action.1", Status.SUCCESS), ("verify.1", Status.SUCCESS)]
    assert [step.due_at - begun for step in steps] == [0, 3 * MINUTE, 5 * MINUTE]
    assert {kind_of(step) for step in steps} == {RunKind.STEP}
    chain = await rig.read(run_id)
    assert [move.state for move in chain.moves] == [ChainState.ARMED, ChainState.ACTIVE, ChainState.CLOSED]
    assert chain.outcome is ChainOutcome.RESOLVED
    assert [alert.kind for alert in await rig.alerts()] == [AlertKind.CHAIN_ARMED]
    assert (await rig.state_of_class()).active == []
    assert await rig.storage.definitions.get_schedules([ScheduleId(DISK)]) == {}
    assert await check_invariants(rig.storage, now=rig.clock.now()) == []


@pytest.mark.proves("R3-04", "R3-39", "R3-43")
async def test_a_quiet_scout_arms_nothing(chains: MakeRig) -> None:
    rig = chains({"scout": 0})
    await rig.chain()

    runs = [await rig.go_on(await rig.start()) for _ in range(100)]

    assert {(run.status, len(await rig.steps(run.id))) for run in runs} == {(Status.SUCCESS, 1)}
    assert await rig.storage.queries.chains_page(ChainFilter()) == ChainPage([])
    assert await rig.alerts() == []
