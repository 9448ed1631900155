"""The promises of a storage about the home page."""

from foliot.domain.ids import JobId, RunId, ScheduleId, first_id_at
from foliot.domain.instant import DAY, HOUR, MINUTE, Instant, later
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.schedule.tick import TickOutcome
from foliot.ports.home import HomeDetails, HomeFilter
from foliot.testing.builders import NIGHTLY, REPORT, a_run, every, failed, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene


async def home_of(scene: Scene, since: Instant | None = None, **failing: RunId) -> HomeDetails:
    jobs = {JobId(name): run_id for name, run_id in failing.items()}
    begin = Instant(scene.now - DAY) if since is None else since
    return await scene.storage.queries.home(HomeFilter(begin, scene.now, Instant(scene.now - MINUTE), jobs))


def outcomes(home: HomeDetails) -> dict[str, int]:
    return {str(outcome): count for outcome, count in home.account.outcomes.items() if count}


class HomeContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_an_empty_storage_has_an_empty_page(self, scene: Scene) -> None:
        home = await home_of(scene)

        assert home.account.outcomes == dict.fromkeys(TickOutcome, 0)
        assert home.account.is_complete
        assert (home.missed, home.running, home.waiting, home.ended, home.upcoming) == ([], [], [], [], [])
        assert (home.totals.jobs, home.results, home.rows.rows) == (0, {}, [])

    async def test_planned_times_are_counted_by_what_they_have_become(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.schedule(every(60, overlap=Overlap.ALLOW), schedule_id="other")
        await scene.fire_after(3 * MINUTE + MINUTE // 2)
        for span in (MINUTE // 2, MINUTE, MINUTE):
            await scene.fire_after(span)

        home = await home_of(scene)

        # `nightly` skips two times, because its first run has not ended.
        assert outcomes(home) == {"ran": 4, "skipped": 2, "missed": 6}
        assert home.account.late == 0
        assert home.account.is_complete

    async def test_only_the_interval_is_counted_and_a_range_by_its_share(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        await scene.fire_after(101 * MINUTE)

        early = await home_of(scene, since=later(schedule.created_at, 50 * MINUTE))
        late = await home_of(scene, since=scene.now)

        assert outcomes(early)["missed"] in (50, 51)
        assert outcomes(late) == {"ran": 1}

    async def test_failed_runs_of_planned_times_are_counted(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        created = [run_id for _ in range(2) for run_id in await scene.fire_after(MINUTE)]
        [claim] = await scene.claim(only=created[:1])
        await scene.finish(failed(claim))
        await scene.finish(failed(await scene.start()))

        assert (await home_of(scene)).account.failed_runs == 1

    async def test_schedules_with_missed_times_are_listed_those_with_the_most_first(self, scene: Scene) -> None:
        await scene.schedule(every(600, job_id="job2"), schedule_id="rare")
        await scene.schedule(every(60))
        await scene.schedule(every(60, overlap=Overlap.ALLOW), schedule_id="gone")
        await scene.fire_after(30 * MINUTE + MINUTE // 2)
        await scene.storage.definitions.delete_schedules([ScheduleId("gone")], at=scene.now)

        home = await home_of(scene)

        assert [(one.schedule.id, one.count) for one in home.missed] == [(NIGHTLY, 30), ("rare", 3)]
        assert home.missed_count == 2
        assert {one for missed in home.missed for one in missed.reasons} == {"down"}
        assert home.missed[0].until == scene.now - MINUTE // 2
        assert [getattr(row.job, "id", None) for row in home.rows.rows] == [REPORT, "job2"]

    async def test_running_runs_are_those_that_are_no_children(self, scene: Scene) -> None:
        await scene.job()
        first, second = await scene.start(), await scene.start()
        await scene.cancel(second.run_id)

        home = await home_of(scene)

        assert {run.id: run.status for run in home.running} == {
            first.run_id: Status.RUNNING,
            second.run_id: Status.CANCELLING,
        }
        assert [one.run_id for one in home.results[REPORT]] == [second.run_id, first.run_id]

    async def test_queued_runs_are_waiting_after_a_minute(self, scene: Scene) -> None:
        await scene.job()
        await scene.create(a_run(id=RunId(first_id_at(scene.now)), due_at=scene.now))
        old = RunId(first_id_at(scene.now))
        later_run = RunId(first_id_at(Instant(scene.now + 1)))
        await scene.create(a_run(id=later_run, due_at=scene.after(HOUR)))
        scene.clock.advance(2 * MINUTE)
        await scene.create(a_run(id=RunId(first_id_at(scene.now)), due_at=scene.now))

        home = await home_of(scene)

        assert [run.id for run in home.waiting] == [old]
        assert REPORT in home.blockers.jobs

    async def test_runs_that_have_ended_are_listed_with_those_of_failing_jobs(self, scene: Scene) -> None:
        await scene.job()
        good, bad = await scene.start(), await scene.start()
        await scene.finish(succeeded(good), failed(bad))
        await scene.create(a_run())

        home = await home_of(scene, report=bad.run_id)

        assert [run.id for run in home.ended] == [bad.run_id, good.run_id]
        assert home.failing[bad.run_id].status is Status.FAILED
        assert [getattr(row.job, "id", None) for row in home.rows.rows] == [REPORT]
        assert [one.status for one in home.results[REPORT]] == [None, Status.FAILED, Status.SUCCESS]

    async def test_schedules_that_are_due_next_are_listed(self, scene: Scene) -> None:
        await scene.schedule(every(3_600), schedule_id="slow")
        await scene.schedule(every(60), schedule_id="fast")

        home = await home_of(scene)

        assert [schedule.id for schedule in home.upcoming] == ["fast", "slow"]
        assert home.totals.jobs == 1
