"""The promises of a storage about the overview and log summaries."""

from msgspec.structs import replace

from foliot.domain.ids import ScheduleId
from foliot.domain.instant import HOUR, MINUTE
from foliot.domain.schedule.schedule import Overlap
from foliot.ports.health import Depth
from foliot.testing.builders import a_chunk, a_run, a_run_id, every, retention, some_runs, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Contract, Scene


class OverviewContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_the_options_given_for_one_run_can_be_read(self, scene: Scene) -> None:
        plain, given = await scene.create(a_run(overrides=None), a_run(overrides=b'{"priority":7}'))

        assert await scene.storage.queries.overrides(plain) is None
        assert await scene.storage.queries.overrides(given) == b'{"priority":7}'
        assert await scene.storage.queries.overrides(a_run_id()) is None

    async def test_open_runs_are_counted_by_status(self, scene: Scene) -> None:
        assert await scene.depth() == Depth(0, 0, 0)
        running, asked, done = await scene.start(), await scene.start(), await scene.start()
        await scene.cancel(asked.run_id)
        await scene.finish(succeeded(done))
        await scene.create(*some_runs(3), a_run(due_at=scene.after(MINUTE)))

        assert await scene.depth() == Depth(running=2, queued=3, scheduled=1)
        assert running.token

    async def test_a_run_that_waits_for_a_place_counts_as_queued(self, scene: Scene) -> None:
        await scene.start(a_run(max_concurrent=1))
        await scene.create(a_run(max_concurrent=1), a_run(max_concurrent=1, concurrency_key="disk"))

        assert await scene.depth() == Depth(running=1, queued=2, scheduled=0)

    async def test_a_run_that_waits_for_overlap_and_its_due_time_counts_as_scheduled(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        await scene.fire_after(MINUTE)
        await scene.fire_after(MINUTE)
        assert await scene.depth() == Depth(running=0, queued=2, scheduled=0)

        scene.clock.advance(MINUTE)
        [firing] = await scene.decide()
        firing.runs = [replace(run, due_at=scene.after(MINUTE)) for run in firing.runs]
        await scene.settle(firing)

        assert await scene.depth() == Depth(running=0, queued=2, scheduled=1)

    async def test_counting_stops_at_the_limit(self, scene: Scene) -> None:
        await scene.start()
        await scene.start(a_run(max_concurrent=1))
        await scene.create(*some_runs(5), *some_runs(5, max_concurrent=1), *some_runs(5, due_at=scene.after(MINUTE)))

        assert await scene.depth(3) == Depth(running=2, queued=3, scheduled=3)
        assert await scene.depth(1) == Depth(running=1, queued=1, scheduled=1)

    async def test_upcoming_schedules_are_ordered_by_fire_time(self, scene: Scene) -> None:
        for name, seconds in (("slow", 3_600), ("fast", 60), ("paused", 30), ("medium", 600)):
            await scene.schedule(every(seconds), schedule_id=name)
        await scene.pause(paused=True, schedule_id=ScheduleId("paused"))
        await scene.schedule(every(1), schedule_id="deleted")
        await scene.storage.definitions.delete_schedules([ScheduleId("deleted")], at=scene.now)

        upcoming = (await scene.overview()).upcoming

        assert [schedule.id for schedule in upcoming] == ["fast", "medium", "slow"]
        assert upcoming[0] == await scene.stored(ScheduleId("fast"))
        assert [schedule.id for schedule in (await scene.overview(1)).upcoming] == ["fast"]


class LogEndContract(Contract):
    """Every storage must pass these tests unchanged."""

    is_pruned = True

    async def test_the_tail_of_a_log_is_in_order(self, scene: Scene) -> None:
        claim = await scene.start()
        chunks = [a_chunk(claim, seq) for seq in range(5)]
        await scene.storage.work.append_log(chunks)

        assert await scene.storage.queries.tail_log(claim.run_id, limit=2) == chunks[-2:]
        assert await scene.storage.queries.tail_log(claim.run_id, limit=100) == chunks
        assert await scene.storage.queries.tail_log(a_run_id(), limit=100) == []

    async def test_a_log_summary_has_the_starts_and_the_first_and_last_chunk(self, scene: Scene) -> None:
        first = await scene.start()
        await scene.storage.work.append_log([a_chunk(first, 0), a_chunk(first, 1)])
        await scene.finish(to_retry(first))
        [second] = await scene.claim(only=[first.run_id])
        chunks = [a_chunk(second, seq) for seq in range(3)]
        await scene.storage.work.append_log(chunks)
        summary = scene.storage.queries.log_summary

        assert await summary(first.run_id, second.token) == ([first.token, second.token], chunks[0], chunks[-1])
        assert await summary(first.run_id, None) == ([first.token, second.token], None, chunks[-1])
        assert await summary(a_run_id(), second.token) == ([], None, None)

    async def test_the_time_from_which_logs_are_kept_is_stored(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.storage.work.append_log([a_chunk(claim)])
        await scene.finish(succeeded(claim))
        scene.clock.advance(HOUR)

        await scene.prune(retention(logs_age=2 * HOUR))
        assert await scene.storage.queries.logs_kept_from() is None

        await scene.prune(retention(logs_age=MINUTE))
        assert await scene.storage.queries.read_log(claim.run_id) == []
        assert await scene.storage.queries.logs_kept_from() == scene.now - MINUTE

    async def test_a_longer_retention_does_not_move_the_time_from_which_logs_are_kept_back(self, scene: Scene) -> None:
        """A longer retention removes fewer chunks than the one before."""
        claim, slow = await scene.start(), await scene.start()
        await scene.storage.work.append_log([a_chunk(claim), a_chunk(slow)])
        await scene.finish(succeeded(claim))
        scene.clock.advance(HOUR)
        await scene.prune(retention(logs_age=MINUTE))
        kept_from = scene.now - MINUTE
        await scene.finish(succeeded(slow))
        scene.clock.advance(HOUR + MINUTE)

        pruned = await scene.prune(retention(logs_age=2 * HOUR))

        assert pruned.logs == 1
        assert await scene.storage.queries.logs_kept_from() == kept_from
