"""Contracts for jobs whose schedules are paused after failures in a row."""

import pytest

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import MINUTE, SECOND, Instant
from foliot.domain.run.run import Status
from foliot.ports.health import HealthLimits
from foliot.testing.builders import NIGHTLY, REPORT, a_run, cancelled, every, failed, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Contract, Scene

_WEEKLY = ScheduleId("weekly")


async def watched_job(scene: Scene, limit: int | None = 3) -> None:
    """Put a job that is paused after some failures, with two schedules."""
    await scene.job(pause_after_failures=limit)
    await scene.storage.definitions.watch_jobs({JobId(REPORT): MINUTE})
    await scene.schedule(every(60))
    await scene.schedule(every(90), schedule_id=_WEEKLY)


async def end(scene: Scene, *statuses: str) -> None:
    """Run the job once for each status, one second apart."""
    for status in statuses:
        scene.clock.advance(SECOND)
        claim = await scene.start(a_run())
        scene.clock.advance(SECOND)
        if status == "cancelled":
            await scene.cancel(claim.run_id)
        finish = {"success": succeeded(claim), "failed": failed(claim), "cancelled": cancelled(claim)}[status]
        await scene.finish(finish)


async def paused(scene: Scene) -> list[bool]:
    found = await scene.storage.definitions.get_schedules([NIGHTLY, _WEEKLY])
    return [found[name].paused_at is not None for name in (NIGHTLY, _WEEKLY)]


async def stopped_at(scene: Scene) -> Instant | None:
    return (await scene.storage.definitions.get_jobs([JobId(REPORT)]))[JobId(REPORT)].stopped_at


class FailureContract(Contract):
    async def test_all_schedules_of_a_job_are_paused_with_its_last_allowed_failure(self, scene: Scene) -> None:
        await watched_job(scene)

        await end(scene, "failed", "failed")
        before = await paused(scene)
        await end(scene, "failed")

        assert (before, await paused(scene)) == ([False, False], [True, True])
        assert await stopped_at(scene) == scene.now

    async def test_a_success_resets_the_count(self, scene: Scene) -> None:
        await watched_job(scene)

        await end(scene, "failed", "failed", "success", "failed", "failed")

        assert await paused(scene) == [False, False]
        await end(scene, "failed")
        assert await paused(scene) == [True, True]

    async def test_cancelled_runs_neither_count_nor_reset(self, scene: Scene) -> None:
        await watched_job(scene)

        await end(scene, "failed", "cancelled", "failed", "cancelled")
        before = await paused(scene)
        await end(scene, "failed")

        assert (before, await paused(scene)) == ([False, False], [True, True])

    async def test_resuming_begins_a_new_count(self, scene: Scene) -> None:
        await watched_job(scene)
        await end(scene, "failed", "failed", "failed")

        await scene.storage.definitions.pause_schedules([NIGHTLY, _WEEKLY], paused=False, at=scene.now)
        await end(scene, "failed", "failed")

        assert (await paused(scene), await stopped_at(scene)) == ([False, False], None)
        await end(scene, "failed")
        assert await paused(scene) == [True, True]

    async def test_a_job_without_the_option_is_never_stopped(self, scene: Scene) -> None:
        await watched_job(scene, None)

        await end(scene, *["failed"] * 5)

        assert (await paused(scene), await stopped_at(scene)) == ([False, False], None)

    async def test_a_changed_number_applies_to_the_next_failure(self, scene: Scene) -> None:
        await watched_job(scene, 100)
        await end(scene, "failed", "failed")
        await scene.job(pause_after_failures=2)

        await end(scene, "failed")

        assert await paused(scene) == [True, True]

    async def test_a_retried_failure_does_not_count(self, scene: Scene) -> None:
        await scene.job(pause_after_failures=1)
        await scene.storage.definitions.watch_jobs({JobId(REPORT): MINUTE})
        await scene.schedule(every(60))

        claim = await scene.start(a_run())
        await scene.finish(to_retry(claim))

        assert await scene.status(claim.run_id) is Status.QUEUED
        assert (await scene.stored()).paused_at is None

    async def test_the_health_names_stopped_jobs(self, scene: Scene) -> None:
        await watched_job(scene, 1)
        await end(scene, "failed")
        limits = HealthLimits(rows=10, counted=10, late_since=Instant(0), failed_since=Instant(0))

        assert (await scene.storage.queries.health(limits)).stopped == [REPORT]

    @pytest.mark.proves("T11")
    async def test_ticks_after_the_failures_are_skipped_as_paused(self, scene: Scene) -> None:
        await watched_job(scene, 1)
        schedule = await scene.stored()
        await end(scene, "failed")
        scene.clock.advance(10 * MINUTE)

        assert await scene.fire() == []
        await scene.storage.definitions.pause_schedules([NIGHTLY], paused=False, at=scene.now)
        await scene.fire()

        assert [(tick.outcome, tick.reason, tick.count) for tick in await scene.ticks(schedule.uid)] == [
            ("skipped", "paused", 10)
        ]
