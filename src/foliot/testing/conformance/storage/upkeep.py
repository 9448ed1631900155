"""The promises of a storage about leadership and retention."""

import asyncio
from contextlib import suppress

import pytest

from foliot.domain.ids import RunId, ScheduleId
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Millis
from foliot.domain.run.lease import Claim
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.ports.orders import Created
from foliot.ports.pages import RunFilter
from foliot.ports.upkeep import Pruned
from foliot.testing.builders import (
    LEASE,
    NIGHTLY,
    a_chunk,
    a_run,
    every,
    once,
    retention,
    some_runs,
    succeeded,
    to_retry,
)
from foliot.testing.conformance.storage.scene import Contract, Scene

NOTHING = Pruned(0, 0, 0, 0, 0, 0)


class LeaderContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("L6")
    async def test_only_one_candidate_leads(self, scene: Scene) -> None:
        assert await lead(scene, "anna") is not None
        assert await lead(scene, "bert") is None

    async def test_a_leader_stays_leader_with_the_same_epoch(self, scene: Scene) -> None:
        first = await lead(scene, "anna")
        for _ in range(3):
            scene.clock.advance(LEASE - SECOND)
            assert await lead(scene, "anna") == first

        assert await lead(scene, "bert") is None

    @pytest.mark.proves("L6", "L8")
    async def test_an_expired_leader_is_replaced_with_a_higher_epoch(self, scene: Scene) -> None:
        first = await lead(scene, "anna")
        scene.clock.advance(LEASE + 1)

        second = await lead(scene, "bert")

        assert first is not None
        assert second is not None
        assert second > first
        assert await lead(scene, "anna") is None

    @pytest.mark.proves("L6", "L8")
    async def test_a_leader_that_resigns_is_replaced_immediately_with_a_higher_epoch(self, scene: Scene) -> None:
        first = await lead(scene, "anna")
        await scene.storage.upkeep.resign("anna")

        second = await lead(scene, "bert")

        assert first is not None
        assert second is not None
        assert second > first

    @pytest.mark.proves("L6", "L8")
    async def test_a_leader_can_be_replaced_exactly_at_its_expiry(self, scene: Scene) -> None:
        await lead(scene, "anna")
        scene.clock.advance(LEASE - 1)
        assert await lead(scene, "bert") is None

        scene.clock.advance(1)

        assert await lead(scene, "bert") is not None

    @pytest.mark.proves("L6")
    async def test_an_expired_leader_that_leads_again_gets_a_higher_epoch(self, scene: Scene) -> None:
        first = await lead(scene, "anna")
        scene.clock.advance(LEASE)

        second = await lead(scene, "anna")

        assert first is not None
        assert second is not None
        assert second > first

    @pytest.mark.proves("L6")
    async def test_a_leader_that_has_resigned_can_prune_nothing(self, scene: Scene) -> None:
        claim = await finished(scene)
        scene.clock.advance(DAY)
        epoch = await lead(scene, "anna")
        assert epoch is not None
        await scene.storage.upkeep.resign("anna")

        pruned = await scene.storage.upkeep.prune(retention(runs_age=HOUR), epoch=epoch, limit=9, at=scene.now)

        assert pruned is None
        assert await scene.status(claim.run_id) is Status.SUCCESS

    async def test_resigning_for_another_changes_nothing(self, scene: Scene) -> None:
        epoch = await lead(scene, "anna")
        await scene.storage.upkeep.resign("bert")

        assert await lead(scene, "bert") is None
        assert await lead(scene, "anna") == epoch

    @pytest.mark.proves("L6")
    async def test_a_replaced_leader_can_prune_nothing(self, scene: Scene) -> None:
        claim = await finished(scene)
        old = await lead(scene, "anna")
        scene.clock.advance(DAY)
        await lead(scene, "bert")
        assert old is not None
        all_old = retention(runs_age=HOUR, logs_age=HOUR)

        pruned = await scene.storage.upkeep.prune(all_old, epoch=old, limit=9, at=scene.now)

        assert pruned is None
        assert await scene.status(claim.run_id) is Status.SUCCESS
        assert len(await scene.storage.queries.read_log(claim.run_id)) == 1

    @pytest.mark.proves("L6")
    async def test_without_a_leader_nothing_is_pruned(self, scene: Scene) -> None:
        assert await scene.storage.upkeep.prune(retention(), epoch=1, limit=9, at=scene.now) is None


class UpkeepContract(Contract):
    """Every storage must pass these tests unchanged."""

    is_pruned = True

    async def test_retention_without_limits_removes_nothing(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.fire_after(MINUTE)
        await finished(scene)
        scene.clock.advance(1_000 * DAY)

        assert await scene.prune(retention()) == NOTHING

    async def test_old_runs_are_removed_with_all_their_rows(self, scene: Scene) -> None:
        old = await finished(scene, to_retry_first=True)
        scene.clock.advance(HOUR)
        young = await finished(scene)

        pruned = await scene.prune(retention(runs_age=HOUR - 1))

        assert pruned.runs == 1
        assert set(await scene.storage.queries.get_runs([old.run_id, young.run_id])) == {young.run_id}
        assert await scene.storage.queries.attempts(old.run_id) == []
        assert await scene.storage.queries.read_log(old.run_id) == []

    async def test_retention_by_age_includes_its_bound(self, scene: Scene) -> None:
        await scene.schedule(every(DAY // SECOND, overlap=Overlap.ALLOW))
        await scene.fire_after(DAY)
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)
        await finished(scene)
        scene.clock.advance(HOUR)
        an_hour = retention(runs_age=HOUR, logs_age=HOUR, ticks_age=HOUR)

        assert await scene.prune(an_hour) == NOTHING
        scene.clock.advance(1)
        pruned = await scene.prune(an_hour)
        assert (pruned.runs, pruned.ticks) == (1, 1)

    async def test_an_open_run_is_never_removed(self, scene: Scene) -> None:
        running = await scene.start()
        waiting = await scene.start(a_run(retry_delay=1_000 * DAY))
        await scene.finish(to_retry(waiting))
        [queued] = await scene.create(a_run())
        scene.clock.advance(100 * DAY)

        pruned = await scene.prune(retention(runs_age=Millis(1), runs_per_job=0))

        assert pruned.runs == 0
        statuses = await scene.statuses(running.run_id, waiting.run_id, queued)
        assert statuses == [Status.RUNNING, Status.SCHEDULED, Status.QUEUED]

    async def test_the_newest_runs_of_each_job_are_kept(self, scene: Scene) -> None:
        mine = [await finished(scene) for _ in range(3)]
        other = await finished(scene, job_id="other")
        scene.clock.advance(SECOND)

        pruned = await scene.prune(retention(runs_per_job=2))

        assert pruned.runs == 1
        kept = await scene.storage.queries.get_runs([claim.run_id for claim in (*mine, other)])
        assert set(kept) == {mine[1].run_id, mine[2].run_id, other.run_id}

    async def test_open_runs_do_not_count_among_the_newest_of_their_job(self, scene: Scene) -> None:
        mine = [await finished(scene) for _ in range(3)]
        scene.clock.advance(SECOND)
        backlog = await scene.create(*some_runs(5))

        pruned = await scene.prune(retention(runs_per_job=2))

        assert pruned.runs == 1
        kept = await scene.storage.queries.get_runs([*[claim.run_id for claim in mine], *backlog])
        assert set(kept) == {mine[1].run_id, mine[2].run_id, *backlog}

    @pytest.mark.parametrize("turns", [1, 10, 100])
    async def test_a_prune_that_was_interrupted_is_repeated(self, scene: Scene, turns: int) -> None:
        runs = [await finished(scene, job_id=f"job-{number}") for number in range(4)]
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        await scene.fire_after(MINUTE)
        scene.clock.advance(DAY)
        all_old = retention(runs_age=HOUR, runs_per_job=0, logs_age=HOUR, ticks_age=HOUR)
        epoch = await lead(scene, "janitor")
        assert epoch is not None

        given_up = asyncio.ensure_future(scene.storage.upkeep.prune(all_old, epoch=epoch, limit=100, at=scene.now))
        for _ in range(turns):
            await asyncio.sleep(0)
        given_up.cancel()
        with suppress(asyncio.CancelledError):
            await given_up
        await scene.prune_to_the_end(all_old, limit=100)

        assert await scene.storage.queries.get_runs([claim.run_id for claim in runs]) == {}
        assert [await scene.storage.queries.read_log(claim.run_id) for claim in runs] == [[]] * 4
        assert await scene.ticks((await scene.stored()).uid) == []

    async def test_pruning_stops_at_its_limit_and_continues_later(self, scene: Scene) -> None:
        for _ in range(3):
            await finished(scene)
        scene.clock.advance(DAY)

        counts = [(await scene.prune(retention(runs_age=HOUR), limit=2)).runs for _ in range(3)]

        assert counts == [2, 1, 0]

    async def test_pruning_until_done_leaves_nothing_too_old(self, scene: Scene) -> None:
        schedules = [await scene.schedule(every(60, overlap=Overlap.ALLOW), schedule_id=f"s{n}") for n in range(7)]
        for _ in range(3):
            await scene.fire_after(MINUTE)
        scene.clock.advance(DAY)

        pieces = await scene.prune_to_the_end(retention(ticks_age=HOUR), limit=2)

        assert sum(piece.ticks for piece in pieces) == 21
        assert all([await scene.ticks(schedule.uid) == [] for schedule in schedules])

    async def test_a_prune_that_removed_nothing_may_not_be_the_last(self, scene: Scene) -> None:
        for number in range(6):
            await scene.schedule(every(DAY // SECOND), schedule_id=f"daily-{number}")
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        await scene.fire_after(MINUTE)
        scene.clock.advance(HOUR)

        pieces = await scene.prune_to_the_end(retention(ticks_age=MINUTE), limit=2)

        assert sum(piece.ticks for piece in pieces) == 1

    async def test_runs_that_are_too_old_and_too_many_do_not_hide_others(self, scene: Scene) -> None:
        for _ in range(3):
            await finished(scene)
        scene.clock.advance(DAY)
        for _ in range(6):
            await finished(scene)

        pieces = await scene.prune_to_the_end(retention(runs_age=HOUR, runs_per_job=1), limit=5)

        assert sum(piece.runs for piece in pieces) == 8

    async def test_pruning_until_done_checks_every_job(self, scene: Scene) -> None:
        for number in range(5):
            for _ in range(3):
                await finished(scene, job_id=f"job-{number}")
        scene.clock.advance(SECOND)

        pieces = await scene.prune_to_the_end(retention(runs_per_job=1, runs_age=DAY), limit=3)

        assert sum(piece.runs for piece in pieces) == 10
        again = await scene.prune_to_the_end(retention(runs_per_job=1, runs_age=DAY), limit=3)
        assert not any(piece.runs for piece in again)

    async def test_a_dedupe_key_is_free_when_its_run_has_been_removed(self, scene: Scene) -> None:
        first = await scene.start(a_run(dedupe_key="order-1"))
        await scene.finish(succeeded(first))
        scene.clock.advance(DAY)
        await scene.prune(retention(runs_age=HOUR))
        second = a_run(dedupe_key="order-1")

        assert await scene.create(second) == [second.id]

    @pytest.mark.proves("R1-41")
    async def test_a_dedupe_window_lasts_after_its_run_has_been_removed(self, scene: Scene) -> None:
        first = await scene.start(a_run(dedupe_key="order-1", dedupe_scope="window", dedupe_for=Millis(2 * DAY)))
        await scene.finish(succeeded(first))
        scene.clock.advance(DAY)
        assert (await scene.prune(retention(runs_age=HOUR))).runs == 1
        second, third = (a_run(dedupe_key="order-1") for _ in range(2))

        assert await scene.storage.orders.create([second], at=scene.now) == [Created(first.run_id, is_new=False)]
        scene.clock.advance(DAY)
        assert await scene.create(third) == [third.id]

    async def test_dedupe_windows_that_are_over_are_removed(self, scene: Scene) -> None:
        await scene.create(a_run(dedupe_key="order-1", dedupe_scope="window", dedupe_for=HOUR))
        scene.clock.advance(MINUTE)
        assert (await scene.prune(retention())).dedupe == 0
        scene.clock.advance(HOUR)

        assert (await scene.prune(retention())).dedupe == 1

    async def test_old_logs_are_removed_and_their_runs_are_kept(self, scene: Scene) -> None:
        old = await finished(scene)
        scene.clock.advance(DAY)
        young = await finished(scene)

        pruned = await scene.prune(retention(logs_age=HOUR))

        assert pruned.logs > 0
        assert await scene.storage.queries.read_log(old.run_id) == []
        assert len(await scene.storage.queries.read_log(young.run_id)) == 1
        assert await scene.status(old.run_id) is Status.SUCCESS

    async def test_logs_that_grow_old_later_are_removed_later(self, scene: Scene) -> None:
        for _ in range(3):
            await finished(scene)
            scene.clock.advance(DAY)

            assert (await scene.prune(retention(logs_age=HOUR))).logs == 1

    async def test_the_log_of_an_open_run_is_kept(self, scene: Scene) -> None:
        running = await scene.start()
        await scene.storage.work.append_log([a_chunk(running)])
        scene.clock.advance(DAY)

        await scene.prune(retention(logs_age=HOUR))

        assert len(await scene.storage.queries.read_log(running.run_id)) == 1

    async def test_old_ticks_are_removed_and_the_ledger_records_where_it_begins(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, overlap=Overlap.ALLOW))
        for _ in range(4):
            await scene.fire_after(MINUTE)
        scene.clock.advance(SECOND)

        pruned = await scene.prune(retention(ticks_age=Millis(2 * MINUTE)))

        kept = [tick.scheduled_for for tick in await scene.ticks(schedule.uid)]
        [ledger] = await scene.storage.queries.ledgers()
        assert pruned.ticks == 2
        assert kept == [scene.now - MINUTE - SECOND, scene.now - SECOND]
        assert ledger.schedule.ledger_from is not None
        assert kept[0] - MINUTE < ledger.schedule.ledger_from <= kept[0]

    @pytest.mark.proves("T12")
    async def test_a_tick_inside_the_catch_up_horizon_is_never_removed(self, scene: Scene) -> None:
        spec = every(600, catchup=Catchup.ALL, catchup_max_age=HOUR, overlap=Overlap.ALLOW)
        schedule = await scene.schedule(spec)
        for _ in range(10):
            await scene.fire_after(10 * MINUTE)
        horizon = scene.now - HOUR

        await scene.prune(retention(ticks_age=MINUTE))

        kept = [tick.scheduled_for for tick in await scene.ticks(schedule.uid)]
        assert len(kept) == 7
        assert min(kept) == horizon

    async def test_a_deleted_schedule_is_removed_after_its_ticks_and_runs(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await run_once(scene)
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)
        scene.clock.advance(DAY)

        pieces = await scene.prune_to_the_end(retention(ticks_age=HOUR, runs_age=HOUR), limit=100)

        assert sum(piece.schedules for piece in pieces) == 1
        assert await scene.storage.queries.ledgers() == []

    @pytest.mark.proves("T12")
    async def test_a_deleted_schedule_is_kept_with_the_ticks_of_its_catch_up_horizon(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, catchup=Catchup.ALL, catchup_max_age=DAY, overlap=Overlap.ALLOW))
        await run_once(scene)
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)
        scene.clock.advance(2 * HOUR)

        pruned = await scene.prune(retention(runs_age=HOUR, ticks_age=HOUR))

        [ledger] = await scene.storage.queries.ledgers()
        assert (pruned.runs, pruned.ticks, pruned.schedules) == (1, 0, 0)
        assert ledger.schedule.uid == schedule.uid
        assert len(await scene.ticks(schedule.uid)) == 1

    async def test_a_schedule_that_will_not_fire_again_is_removed(self, scene: Scene) -> None:
        await scene.schedule(once(scene.after(MINUTE)))
        await run_once(scene)
        scene.clock.advance(DAY)

        await scene.prune_to_the_end(retention(ticks_age=HOUR, runs_age=HOUR), limit=100)

        assert await scene.storage.queries.ledgers() == []

    async def test_a_schedule_is_not_removed_before_the_age_of_its_ticks(self, scene: Scene) -> None:
        await scene.schedule(once(scene.after(MINUTE)))
        await scene.schedule(every(60), schedule_id="deleted")
        await scene.storage.definitions.delete_schedules([ScheduleId("deleted")], at=scene.now)
        await run_once(scene)

        await scene.prune_to_the_end(retention(ticks_age=HOUR, runs_age=MINUTE), limit=100)

        assert len(await scene.storage.queries.ledgers()) == 2

    async def test_a_schedule_is_not_removed_if_ticks_are_kept_without_limit(self, scene: Scene) -> None:
        await scene.schedule(once(scene.after(MINUTE)))
        await scene.schedule(every(60), schedule_id="deleted")
        await scene.storage.definitions.delete_schedules([ScheduleId("deleted")], at=scene.now)
        await run_once(scene)
        scene.clock.advance(1_000 * DAY)

        await scene.prune_to_the_end(retention(runs_age=HOUR), limit=100)

        assert len(await scene.storage.queries.ledgers()) == 2

    async def test_runs_are_found_by_their_schedule_for_as_long_as_they_are_kept(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        run_id = await run_once(scene)
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)
        scene.clock.advance(DAY)

        await scene.prune_to_the_end(retention(ticks_age=HOUR), limit=100)

        found = await scene.storage.queries.page_runs(RunFilter(schedule_id=NIGHTLY))
        assert [run.id for run in found] == [run_id]

    async def test_runs_of_its_successor_do_not_keep_a_deleted_schedule(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)
        scene.clock.advance(DAY)
        successor = await scene.schedule(every(60))
        await run_once(scene)

        await scene.prune_to_the_end(retention(ticks_age=HOUR), limit=100)

        assert [ledger.schedule.uid for ledger in await scene.storage.queries.ledgers()] == [successor.uid]

    async def test_an_active_schedule_is_never_removed(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        scene.clock.advance(DAY)
        await scene.fire()
        scene.clock.advance(DAY)

        await scene.prune(retention(ticks_age=HOUR))

        assert (await scene.stored()).id == NIGHTLY

    async def test_old_events_are_removed(self, scene: Scene) -> None:
        await scene.create(a_run())
        scene.clock.advance(DAY)
        [young] = await scene.create(a_run())

        pruned = await scene.prune(retention(events_age=HOUR))

        events = await scene.storage.queries.events(after=0, limit=100)
        assert pruned.events == 1
        assert [item[0] for event in events for item in event.items] == [young]

    async def test_event_numbers_are_never_reused(self, scene: Scene) -> None:
        await scene.create(*some_runs(2))
        [before] = await scene.storage.queries.events(after=0, limit=100)
        scene.clock.advance(DAY)
        await scene.prune(retention(events_age=HOUR))

        await scene.create(a_run())

        # A storage may keep the newest event.
        [*_, after] = await scene.storage.queries.events(after=0, limit=100)
        assert after.seq > before.seq

    @pytest.mark.proves("L2")
    async def test_tokens_are_never_reused(self, scene: Scene) -> None:
        old = await finished(scene)
        scene.clock.advance(DAY)
        await scene.prune(retention(runs_age=HOUR))

        assert (await scene.start()).token > old.token

    async def test_ticks_of_a_range_are_removed_as_one_row(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        await scene.fire_after(HOUR + 30 * SECOND)
        await scene.fire_after(DAY)

        pruned = await scene.prune(retention(ticks_age=HOUR))

        assert pruned.ticks == 1
        assert [tick.count for tick in await scene.ticks(schedule.uid)] == [24 * 60]


async def lead(scene: Scene, holder: str) -> int | None:
    return await scene.storage.upkeep.lead(holder, LEASE, at=scene.now)


async def run_once(scene: Scene) -> RunId:
    """Fire the ticks of the next minute, and finish their run as a success."""
    [run_id] = await scene.fire_after(MINUTE)
    await scene.finish(*[succeeded(claim) for claim in await scene.claim(only=[run_id])])
    return run_id


async def finished(scene: Scene, *, to_retry_first: bool = False, job_id: str = "report") -> Claim:
    """Create a run with a log, and finish it now as a success."""
    claim = await scene.start(a_run(job_id=job_id, due_at=scene.now))
    await scene.storage.work.append_log([a_chunk(claim)._replace(at=scene.now)])
    if to_retry_first:
        await scene.finish(to_retry(claim))
        [claim] = await scene.claim(only=[claim.run_id])
    await scene.finish(succeeded(claim, output=b"1"))
    return claim
