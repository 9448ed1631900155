"""Edits, pauses, reboots and changes of the leader at unfavourable moments."""

from pathlib import Path

import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.instant import DAY, HOUR, MINUTE, later
from foliot.errors import RowUnreadable
from foliot.testing.builders import LEASE, NIGHTLY, a_run, a_schedule, a_worker, every, fire, retention, succeeded
from foliot.testing.clock import START, VirtualClock
from foliot.testing.conformance.storage import tree_builders
from foliot.testing.conformance.storage.scene import Scene
from tests.adapters.storage.sqlite.files import opened, rows


@pytest.mark.proves("T2", "T15")
async def test_edits_during_a_backlog_keep_the_moments_of_earlier_rules(
    storage: SqliteStorage, clock: VirtualClock
) -> None:
    await storage.definitions.put_schedules([a_schedule(every(60))])
    for seconds in (600, 3_600, 7_200):
        clock.advance(10 * MINUTE)
        [schedule] = await storage.definitions.put_schedules([a_schedule(every(seconds))])

    [due] = (await storage.ledger.due(10)).schedules

    assert schedule.next_run_at == later(START, MINUTE)
    assert [revision.spec.expr for revision in due.revisions] == ["60", "600", "3600", "7200"]


@pytest.mark.proves("R4-26")
async def test_settling_does_not_wake_a_paused_schedule(storage: SqliteStorage, clock: VirtualClock) -> None:
    [schedule] = await storage.definitions.put_schedules([a_schedule(every(60))])
    clock.advance(MINUTE)
    [due] = (await storage.ledger.due(10)).schedules
    [paused] = await storage.definitions.pause_schedules([NIGHTLY], paused=True)
    firing = fire(due._replace(version=paused.version), clock.now())

    assert await storage.ledger.commit_firings([firing]) == [schedule.uid]

    after = (await storage.definitions.get_schedules([NIGHTLY]))[NIGHTLY]
    assert (after.settled_until, after.wake_at) == (clock.now(), None)


@pytest.mark.proves("L3")
async def test_a_worker_registered_before_a_reboot_claims_nothing(storage: SqliteStorage, clock: VirtualClock) -> None:
    worker = a_worker()
    await storage.work.register(worker, LEASE)
    await storage.orders.create([a_run()])

    clock.reboot()

    assert await storage.work.claim(worker.id, ["default"], 1) == ([], {})
    assert await storage.work.renew(worker.id, [], LEASE) is None
    assert [state.is_alive for state in await storage.admission.workers()] == [False]


@pytest.mark.proves("L6", "L8")
async def test_a_leader_from_before_a_reboot_is_replaced(storage: SqliteStorage, clock: VirtualClock) -> None:
    clock.advance(HOUR)
    first = await storage.upkeep.lead("anna", LEASE)

    clock.reboot()

    second = await storage.upkeep.lead("bert", LEASE)
    assert first is not None
    assert second == first + 1


@pytest.mark.proves("L6")
async def test_a_leader_replaced_during_pruning_removes_nothing(tmp_path: Path, clock: VirtualClock) -> None:
    path = tmp_path / "foliot.db"

    def replace_the_leader(point: str) -> None:
        if point == "prune_logs.before_commit":
            rows(path, "UPDATE leader SET epoch = epoch + 1, holder = 'another'")

    async with opened(path, clock=clock, inline=True, faults=replace_the_leader) as storage:
        worker = a_worker()
        await storage.work.register(worker, LEASE)
        await storage.orders.create([a_run()])
        [claim] = (await storage.work.claim(worker.id, ["default"], 1)).claims
        await storage.work.finish([succeeded(claim)])
        clock.advance(DAY)
        epoch = await storage.upkeep.lead("janitor", LEASE)
        assert epoch is not None

        assert await storage.upkeep.prune(retention(runs_age=HOUR), epoch=epoch, limit=10) is None
        assert set(await storage.queries.get_runs([claim.run_id])) == {claim.run_id}


async def test_an_ended_execution_has_no_notes(storage: SqliteStorage, clock: VirtualClock, tmp_path: Path) -> None:
    scene = Scene(storage, clock)
    execution = await tree_builders.opened(scene)
    part = await tree_builders.claim_child(scene, execution)
    await scene.finish(succeeded(part))

    await tree_builders.settle(scene, tree_builders.final_settlement(execution))

    assert rows(tmp_path / "foliot.db", "SELECT * FROM notes") == []


async def test_a_missing_counter_is_named_in_the_error(
    storage: SqliteStorage, clock: VirtualClock, tmp_path: Path
) -> None:
    scene = Scene(storage, clock)
    await scene.create(a_run())
    rows(tmp_path / "foliot.db", "UPDATE counters SET name = 'other'")

    with pytest.raises(RowUnreadable, match="the row of counter 'token' cannot be read: it is missing"):
        await scene.claim()

    rows(tmp_path / "foliot.db", "UPDATE counters SET name = 'token'")
    assert len(await scene.claim()) == 1
