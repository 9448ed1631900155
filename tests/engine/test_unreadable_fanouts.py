"""Fanouts whose rows cannot be read wait for their repair, and can be cancelled."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from foliot.domain.ids import RunId
from foliot.domain.instant import MINUTE, Millis
from foliot.domain.job.job import Options
from foliot.domain.run.outcome import Success
from foliot.domain.run.run import Status
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.invariants import check_invariants
from tests.engine.fanouts import FanoutRig, a_reducer, statuses

Spoil = Callable[[str], None]
DAMAGE = ["tree_bodies SET body = x'ff'", "trees SET progress = '{oops'", "trees SET held = '{oops'"]


@pytest.fixture
def spoil(tmp_path: Path) -> Spoil:
    """Writes directly into the database."""

    def write(sql: str) -> None:
        connection = apsw.Connection(str(tmp_path / "engine.db"))
        connection.execute(sql)
        connection.close()

    return write


async def half_done(storage: Storage, clock: VirtualClock) -> tuple[FanoutRig, RunId]:
    """Return a fanout with one ended, four running and many waiting children, and a process that has not read it."""
    rig = FanoutRig(storage, clock, lambda attempt: None)
    reducer = a_reducer(run_on="always")
    run_id = await rig.start(list(range(300)), options=Options(timeout=Millis(MINUTE)), reducer=reducer)
    for _ in range(3):
        await rig.turn()
    rig.runner.end(rig.runner.under_way[0])
    await rig.turn()
    assert len(rig.runner.under_way) == 4
    newcomer = FanoutRig(storage, clock)
    rig.coordinator = newcomer.coordinator
    return rig, run_id


@pytest.mark.parametrize("damage", DAMAGE)
async def test_an_unreadable_fanout_can_be_cancelled(
    storage: Storage, clock: VirtualClock, spoil: Spoil, damage: str
) -> None:
    rig, run_id = await half_done(storage, clock)
    spoil(f"UPDATE {damage}")

    await storage.orders.cancel([run_id])
    run = await rig.go_on(run_id)

    assert (run.status, run.reason, len(rig.runner.cancelled)) == (Status.CANCELLED, "cancelled", 4)
    children = statuses(await rig.children(run_id))
    assert children == [Status.SUCCESS] + [Status.CANCELLED] * (len(children) - 1)
    assert rig.runner.reducers == []
    assert await check_invariants(storage, now=clock.now()) == []


@pytest.mark.parametrize("damage", DAMAGE)
async def test_an_unreadable_fanout_ends_at_its_deadline(
    storage: Storage, clock: VirtualClock, spoil: Spoil, damage: str
) -> None:
    rig, run_id = await half_done(storage, clock)
    spoil(f"UPDATE {damage}")
    for running in rig.runner.under_way:
        rig.runner.end(running)
    for _ in range(5):
        await rig.turn()
    assert await rig.status(run_id) is Status.RUNNING

    clock.advance(MINUTE)
    run = await rig.go_on(run_id)

    assert (run.status, run.reason) == (Status.TIMEOUT, "timeout")
    assert all(status.is_terminal for status in statuses(await rig.children(run_id)))


async def test_a_repaired_fanout_continues(storage: Storage, clock: VirtualClock, spoil: Spoil) -> None:
    rig, run_id = await half_done(storage, clock)
    spoil("UPDATE trees SET progress = '{' || progress")
    rig.runner.answer_to = lambda attempt: Success()
    for running in rig.runner.under_way:
        rig.runner.end(running)
    for _ in range(10):
        await rig.turn()
    assert await rig.status(run_id) is Status.RUNNING

    spoil("UPDATE trees SET progress = substr(progress, 2)")
    run = await rig.go_on(run_id)

    assert run.status is Status.SUCCESS
    assert statuses(await rig.children(run_id)) == [Status.SUCCESS] * 300
    assert len(rig.runner.reducers) == 1
