"""The promises of a storage about its health: the scheduler, late schedules, failing jobs, waiting queues, its size."""

from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant
from foliot.domain.run.outcome import Reason
from foliot.domain.workflow.spec import PART_SOURCE
from foliot.ports.deliveries import DeliveryResult, DeliveryState
from foliot.ports.health import HealthDetails, HealthLimits
from foliot.ports.pages import RunTimes
from foliot.testing.builders import LEASE, a_run, every, failed, some_runs, succeeded
from foliot.testing.conformance.storage.deliveries import a_delivery, add, settle
from foliot.testing.conformance.storage.scene import Contract, Scene


async def health_of(scene: Scene, *, rows: int = 10, counted: int = 100) -> HealthDetails:
    late_since, failed_since = Instant(scene.now - MINUTE), Instant(scene.now - HOUR)
    return await scene.storage.queries.health(HealthLimits(rows, counted, late_since, failed_since))


class HealthContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_a_scheduler_is_alive_while_one_leads(self, scene: Scene) -> None:
        assert not (await health_of(scene)).has_scheduler

        assert await scene.storage.upkeep.lead("north", LEASE) is not None
        assert (await health_of(scene)).has_scheduler

        await scene.storage.upkeep.resign("north")
        assert not (await health_of(scene)).has_scheduler

    async def test_a_schedule_is_late_if_it_was_not_decided_in_time(self, scene: Scene) -> None:
        for name, seconds in (("slow", 3_600), ("fast", 60), ("medium", 90), ("paused", 60)):
            await scene.schedule(every(seconds), schedule_id=name)
        await scene.pause(paused=True, schedule_id=ScheduleId("paused"))
        scene.clock.advance(3 * MINUTE)

        health = await health_of(scene)

        assert ([schedule.id for schedule in health.late], health.late_count) == (["fast", "medium"], 2)
        few = await health_of(scene, rows=1, counted=1)
        assert ([schedule.id for schedule in few.late], few.late_count) == (["fast"], 1)

    async def test_a_schedule_that_stays_behind_is_late_though_it_was_decided(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        scene.clock.advance(MINUTE)
        [firing] = await scene.decide()
        firing.behind_since, firing.wake_at = scene.now, scene.after(HOUR)
        await scene.settle(firing)
        assert (await health_of(scene)).late_count == 0

        scene.clock.advance(2 * MINUTE)

        health = await health_of(scene)
        assert ([schedule.id for schedule in health.late], health.late_count) == (["nightly"], 1)

    async def test_a_job_is_failing_until_a_newer_run_succeeds(self, scene: Scene) -> None:
        await scene.job("report")
        await scene.job("invoice")
        for job in ("report", "report", "invoice"):
            await scene.finish(failed(await scene.start(a_run(job_id=job))))
            scene.clock.advance(SECOND)

        failing = (await health_of(scene)).failing
        assert [run.job_id for run in failing] == ["invoice", "report"]
        assert failing[1].created_at == scene.now - 2 * SECOND

        await scene.finish(succeeded(await scene.start(a_run(job_id="report"))))
        health = await health_of(scene)
        assert ([run.job_id for run in health.failing], health.failing_count) == (["invoice"], 1)

    async def test_open_runs_do_not_end_a_failure(self, scene: Scene) -> None:
        await scene.job("report")
        await scene.finish(failed(await scene.start(a_run())))
        scene.clock.advance(SECOND)
        await scene.create(*some_runs(3))

        assert (await health_of(scene)).failing_count == 1

    async def test_old_failures_and_failures_of_jobs_that_are_off_or_gone_do_not_count(self, scene: Scene) -> None:
        await scene.job("off", enabled=False)
        await scene.job("report")
        await scene.finish(failed(await scene.start(a_run(job_id="report"))))
        scene.clock.advance(2 * HOUR)
        for job in ("off", "gone"):
            await scene.finish(failed(await scene.start(a_run(job_id=job))))

        assert (await health_of(scene)).failing_count == 0

    async def test_queues_with_waiting_runs_are_listed_once(self, scene: Scene) -> None:
        assert (await health_of(scene)).ready_queues == []
        later = a_run(queue="later", due_at=scene.after(MINUTE))
        await scene.create(*some_runs(3, queue="gpu"), *some_runs(2), later)

        assert (await health_of(scene)).ready_queues == ["default", "gpu"]
        assert (await health_of(scene, rows=1)).ready_queues == ["default"]

    async def test_the_size_on_disk_is_known(self, scene: Scene) -> None:
        size = (await health_of(scene)).size

        assert size.database > 0
        assert size.logs >= 0
        assert size.free is None or size.free > 0

    async def test_jobs_and_waiting_deliveries_are_counted(self, scene: Scene) -> None:
        for name in ("one", "two", "three"):
            await scene.job(name)
        await scene.job("off", enabled=False)
        await scene.job("step", source=PART_SOURCE)
        await scene.job("two", enabled=False)
        await scene.storage.definitions.pause_job(JobId("three"), paused=True, at=scene.now)
        await add(scene, a_delivery(1), a_delivery(2), a_delivery(3))
        await settle(scene, DeliveryResult("msg_1", DeliveryState.DELIVERED, "200"))

        assert await scene.storage.queries.totals(counted=10) == (4, 3, 2)
        assert (await scene.storage.queries.totals(counted=1)).pending_deliveries == 1

    async def test_the_times_of_runs_are_read_without_their_documents(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        [planned] = await scene.fire_after(MINUTE)
        due, started = scene.now, scene.after(SECOND)
        scene.clock.advance(SECOND)
        [claim] = await scene.claim()
        scene.clock.advance(SECOND)
        await scene.finish(failed(claim))
        [unplanned] = await scene.create(a_run())

        found = await scene.storage.queries.run_times([planned, unplanned, RunId("missing")])

        assert found == {
            planned: RunTimes(due, started, scene.now, Reason.EXIT_CODE),
            unplanned: RunTimes(None, None, None, None),
        }
        assert await scene.storage.queries.run_times([]) == {}
