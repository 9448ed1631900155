"""The promises of a storage about a run or a planned time with everything that decided about it."""

from foliot.domain.ids import RunId, ScheduleId
from foliot.domain.instant import EARLIEST, LATEST, MINUTE, SECOND, Instant
from foliot.domain.run.reference import RunById
from foliot.domain.schedule.schedule import Catchup
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.ports.pages import Explained, Matches
from foliot.ports.ticks import TickDetails
from foliot.testing.builders import LEASE, NIGHTLY, a_run, a_run_id, every, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene


async def explained_run(scene: Scene, run_id: RunId) -> Explained:
    found = await scene.storage.queries.explained_run(RunById(run_id))
    assert isinstance(found, Explained)
    return found


async def explained_tick(scene: Scene, since: Instant, until: Instant) -> tuple[Explained, TickDetails]:
    found = await scene.storage.queries.explained_tick(NIGHTLY, since, until)
    assert found is not None
    assert found.tick is not None
    return found, found.tick


class ExplainedContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_a_run_without_a_tick_has_none(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run())

        found = await explained_run(scene, run_id)

        assert found.run is not None
        assert (found.run.run.id, found.tick) == (run_id, None)
        assert await scene.storage.queries.explained_run(RunById(a_run_id())) == Matches(())

    async def test_a_run_of_a_tick_has_its_row_and_the_revision_that_applied(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        [run_id] = await scene.fire_after(MINUTE)

        tick = (await explained_run(scene, run_id)).tick

        assert tick is not None
        assert tick.row is not None
        assert (tick.row.record.run_id, tick.row.record.outcome, tick.at) == (run_id, TickOutcome.RAN, scene.now)
        assert [revision.number for revision in tick.revisions] == [1]
        assert tick.schedule == await scene.stored()
        assert tick.before is None

    async def test_the_run_of_a_deleted_schedule_keeps_its_tick(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        [run_id] = await scene.fire_after(MINUTE)
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)

        tick = (await explained_run(scene, run_id)).tick

        assert tick is not None
        assert (tick.schedule, tick.row is not None, len(tick.revisions)) == (None, True, 1)
        assert await scene.storage.queries.explained_tick(NIGHTLY, EARLIEST, LATEST) is None

    async def test_an_overlap_names_the_runs_that_were_not_over(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.worker()
        [first] = await scene.fire_after(MINUTE)
        [claim] = await scene.claim(only=[first])
        assert await scene.fire_after(MINUTE) == []
        skipped = scene.now
        scene.clock.advance(SECOND)
        await scene.finish(succeeded(claim))
        await scene.fire_after(MINUTE)

        found, tick = await explained_tick(scene, skipped, skipped)

        assert tick.row is not None
        assert (found.run, tick.row.record.reason) == (None, TickReason.OVERLAP)
        assert [run.id for run in tick.in_flight] == [first]
        assert tick.before is not None
        assert tick.before.record.run_id == first

    async def test_a_time_inside_a_range_has_the_row_of_the_range(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        start = scene.now
        await scene.fire_after(10 * MINUTE)

        _, tick = await explained_tick(scene, Instant(start + 3 * MINUTE), Instant(start + 3 * MINUTE + 999))

        assert tick.row is not None
        assert (tick.row.record.outcome, tick.at) == (TickOutcome.MISSED, start + 3 * MINUTE)
        assert tick.row.record.scheduled_for == start + MINUTE

    async def test_a_coalesced_tick_has_the_row_that_ran_for_it(self, scene: Scene) -> None:
        await scene.schedule(every(60, catchup=Catchup.ONCE))
        start = scene.now
        [run_id] = await scene.fire_after(3 * MINUTE)

        _, tick = await explained_tick(scene, Instant(start + MINUTE), Instant(start + MINUTE))

        assert tick.row is not None
        assert tick.row.record.outcome is TickOutcome.COALESCED
        assert tick.into is not None
        assert tick.into.record.run_id == run_id

    async def test_the_newest_tick_of_an_interval_is_returned_with_its_run(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.fire_after(MINUTE)
        await scene.storage.orders.cancel((await scene.fire_after(0)), at=scene.now)
        found, tick = await explained_tick(scene, EARLIEST, LATEST)

        assert tick.row is not None
        assert found.run is not None
        assert found.run.run.id == tick.row.record.run_id

    async def test_a_time_without_a_row_has_none(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        ahead = scene.after(MINUTE)

        found, tick = await explained_tick(scene, ahead, Instant(ahead + 999))

        assert (found.run, tick.row, tick.planned, tick.at, tick.has_scheduler) == (None, None, None, ahead, False)
        await scene.storage.upkeep.lead("north", LEASE)
        assert (await explained_tick(scene, ahead, ahead))[1].has_scheduler

    async def test_a_tick_that_waits_for_its_jittered_time_is_planned(self, scene: Scene) -> None:
        await scene.schedule(every(3_600, jitter=20 * MINUTE))
        while not (waiting := (await scene.storage.queries.ledgers(limit=1))[0].planned):
            assert scene.now < LATEST
            await scene.fire_after(20 * MINUTE)

        moment = waiting[0].scheduled_for
        _, tick = await explained_tick(scene, moment, moment)

        assert (tick.row, tick.planned) == (None, waiting[0])

    async def test_a_missing_schedule_has_no_ticks(self, scene: Scene) -> None:
        assert await scene.storage.queries.explained_tick(ScheduleId("missing"), EARLIEST, LATEST) is None
