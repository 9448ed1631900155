"""Reports about runs that the application's executor has: what a storage promises."""

import asyncio

from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Millis
from foliot.domain.job.job import Options
from foliot.domain.run.lease import APP_EXECUTOR, CancelAnswer, Claim, ExpiredLease, Finish
from foliot.domain.run.outcome import Cancelled, Failure, Launched, Reason, Success, TimedOut
from foliot.domain.run.reference import RunById
from foliot.domain.run.report import LaunchRecord, Report, ReportAnswer, Reported
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.schedule.tick_run import LAUNCH_JOB
from foliot.ports.pages import Matches
from foliot.ports.upkeep import Retention
from foliot.testing.builders import a_finish, every
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

ID = "wf-7"


class ReportContract(Contract):
    """Every storage passes these, unchanged."""

    is_pruned = True

    async def test_a_launched_run_is_running_without_a_worker(self, scene: Scene) -> None:
        claim = await launched(scene)

        run = await scene.run(claim.run_id)
        assert (run.status, run.worker_id, run.attempt) == (Status.RUNNING, APP_EXECUTOR, 1)
        worker = await scene.standby()
        renewal = await scene.storage.work.renew(worker.id, [], Millis(DAY), at=scene.now)
        assert renewal is not None
        assert (renewal.foreign, renewal.gone) == ((), ())
        assert await expired(scene) == []

    async def test_saving_a_launch_again_is_a_no_op(self, scene: Scene) -> None:
        claim = await launched(scene)

        assert await scene.finish(a_finish(claim, Launched(ID))) == []
        await report(scene, claim, Status.SUCCESS)
        assert await scene.finish(a_finish(claim, Launched(ID))) == []

        assert await scene.status(claim.run_id) is Status.SUCCESS

    async def test_a_worker_cannot_end_a_run_that_it_has_handed_over(self, scene: Scene) -> None:
        claim = await launched(scene)

        assert await scene.finish(a_finish(claim, Success())) == [claim.token]

        assert await scene.status(claim.run_id) is Status.RUNNING

    async def test_a_start_is_kept_with_the_first_moment_it_was_reported(self, scene: Scene) -> None:
        claim = await launched(scene)
        started_at = scene.now

        first = await report(scene, claim, Status.RUNNING)
        scene.clock.advance(MINUTE)
        second = await report(scene, claim, Status.RUNNING)

        assert [one.answer for one in (first, second)] == [ReportAnswer.SAVED, ReportAnswer.REPEATED]
        assert first == Reported(ReportAnswer.SAVED, claim.run_id, Status.RUNNING, ID)
        assert await known(scene, claim.run_id) == LaunchRecord(ID, started_at)
        assert await scene.status(claim.run_id) is Status.RUNNING

    async def test_a_reported_end_ends_the_run_with_its_attempt(self, scene: Scene) -> None:
        claim = await launched(scene)
        scene.clock.advance(HOUR)

        answer = await report(scene, claim, Status.SUCCESS)

        run = await scene.run(claim.run_id)
        assert answer == Reported(ReportAnswer.SAVED, claim.run_id, Status.SUCCESS, ID)
        assert (run.status, run.reason, run.finished_at, run.attempt) == (Status.SUCCESS, None, scene.now, 1)
        assert [item[:2] for item in await scene.items(EventKind.RUNS_ENDED)] == [[claim.run_id, "success"]]

    async def test_a_reported_failure_is_not_retried(self, scene: Scene) -> None:
        claim = await launched(scene)

        await report(scene, claim, Status.FAILED, error="disk full")

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason, run.error) == (Status.FAILED, Reason.EXECUTOR_FAILED, "disk full")

    async def test_a_report_after_the_end_changes_nothing(self, scene: Scene) -> None:
        claim = await launched(scene)
        await report(scene, claim, Status.SUCCESS)
        before = await scene.run(claim.run_id)
        scene.clock.advance(MINUTE)

        answers = [(await report(scene, claim, status)).answer for status in (Status.SUCCESS, Status.FAILED)]
        late = await report(scene, claim, Status.RUNNING)

        assert answers == [ReportAnswer.REPEATED, ReportAnswer.ENDED]
        assert late == Reported(ReportAnswer.ENDED, claim.run_id, Status.SUCCESS, ID)
        assert await scene.run(claim.run_id) == before
        assert len(await scene.items(EventKind.RUNS_ENDED)) == 1

    async def test_a_report_about_another_run_of_the_executor_changes_nothing(self, scene: Scene) -> None:
        claim = await launched(scene)

        answer = await report(scene, claim, Status.SUCCESS, executor_run_id="wf-8")

        assert answer == Reported(ReportAnswer.OTHER_RUN, claim.run_id, Status.RUNNING, ID)
        assert await scene.status(claim.run_id) is Status.RUNNING

    async def test_a_key_of_no_launched_run_is_not_found(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        [run_id] = await scene.fire_after(MINUTE)
        tick = (await scene.run(run_id)).tick
        assert tick is not None

        for key in (tick.key, "other", ""):
            answer = await scene.storage.orders.report(Report(key, Status.SUCCESS), at=scene.now)
            assert answer == Reported(ReportAnswer.NOT_FOUND)

    async def test_a_run_that_was_never_launched_cannot_be_reported(self, scene: Scene) -> None:
        run_id, key = await planned(scene)

        answer = await scene.storage.orders.report(Report(key, Status.SUCCESS), at=scene.now)

        assert (answer.answer, answer.run_id) == (ReportAnswer.NOT_LAUNCHED, run_id)
        assert await scene.ready() == [run_id]

    async def test_a_report_may_arrive_before_the_launch_is_saved(self, scene: Scene) -> None:
        claim = await claimed(scene)

        assert (await report(scene, claim, Status.RUNNING)).answer is ReportAnswer.SAVED
        assert (await report(scene, claim, Status.SUCCESS)).answer is ReportAnswer.SAVED

        assert await scene.finish(a_finish(claim, Launched(ID))) == []
        assert await scene.status(claim.run_id) is Status.SUCCESS

    async def test_a_report_ends_a_run_whose_launch_seemed_to_fail(self, scene: Scene) -> None:
        claim = await claimed(scene)
        await scene.finish(a_finish(claim, Failure("no answer", Reason.LAUNCH_FAILED)))

        assert (await report(scene, claim, Status.SUCCESS)).status is Status.SUCCESS

        scene.clock.advance(HOUR)
        await scene.release()
        assert (await scene.ready(), await scene.status(claim.run_id)) == ([], Status.SUCCESS)

    async def test_a_launched_run_is_in_flight_until_its_end_is_reported(self, scene: Scene) -> None:
        claim = await launched(scene, overlap=Overlap.QUEUE)
        [waiting] = await scene.fire_after(MINUTE)
        assert await scene.ready() == []

        await report(scene, claim, Status.FAILED)

        assert await scene.ready() == [waiting]

    async def test_a_launch_is_due_to_end_after_the_timeout_of_the_run(self, scene: Scene) -> None:
        claim = await launched(scene)
        scene.clock.advance(HOUR - SECOND)
        assert await expired(scene) == []
        scene.clock.advance(SECOND)

        [overdue] = await expired(scene)
        await scene.finish(Finish(overdue.run_id, overdue.worker_id, overdue.token, TimedOut("no report")))

        run = await scene.run(claim.run_id)
        assert overdue == ExpiredLease(claim.run_id, APP_EXECUTOR, claim.token, 1)
        assert (run.status, run.reason) == (Status.TIMEOUT, Reason.TIMEOUT)
        assert (await report(scene, claim, Status.SUCCESS)).answer is ReportAnswer.ENDED

    async def test_a_cancelled_launch_is_due_to_end_immediately(self, scene: Scene) -> None:
        claim = await launched(scene)

        assert await scene.cancel(claim.run_id) == [CancelAnswer.REQUESTED]
        [due] = await expired(scene)
        await scene.finish(Finish(due.run_id, due.worker_id, due.token, Cancelled()))

        assert due.is_cancelled
        assert await scene.status(claim.run_id) is Status.CANCELLED

    async def test_a_run_cancelled_while_it_is_launched_is_still_handed_over(self, scene: Scene) -> None:
        claim = await claimed(scene)
        await scene.cancel(claim.run_id)

        await scene.finish(a_finish(claim, Launched(ID)))

        assert await scene.status(claim.run_id) is Status.CANCELLING
        assert [one.is_cancelled for one in await expired(scene)] == [True]
        assert await known(scene, claim.run_id) == LaunchRecord(ID, None)

    async def test_of_two_ends_reported_concurrently_one_is_saved(self, scene: Scene, another: Another) -> None:
        claim = await launched(scene)
        storages = [scene.storage, await another()]
        reports = [Report(key_of(claim), status, ID) for status in (Status.SUCCESS, Status.FAILED)]

        answers = await asyncio.gather(
            *(storage.orders.report(one, at=scene.now) for storage, one in zip(storages, reports, strict=True))
        )

        assert sorted(one.answer for one in answers) == [ReportAnswer.ENDED, ReportAnswer.SAVED]
        assert {one.status for one in answers} == {await scene.status(claim.run_id)}

    async def test_retention_removes_what_was_reported_with_the_run(self, scene: Scene) -> None:
        claim = await launched(scene)
        await report(scene, claim, Status.SUCCESS)
        scene.clock.advance(DAY)

        await scene.prune_to_the_end(Retention(Millis(HOUR), None, None, None, None), limit=100)

        answer = await scene.storage.orders.report(Report(key_of(claim), Status.SUCCESS), at=scene.now)
        assert answer == Reported(ReportAnswer.NOT_FOUND)
        assert await known(scene, claim.run_id) is None


async def planned(scene: Scene, overlap: Overlap = Overlap.SKIP) -> tuple[RunId, str]:
    """Fire a tick whose run calls a launcher. Return the run and the key of the tick."""
    options = Options(retry=Retry(retries=3), timeout=Millis(HOUR))
    await scene.job(LAUNCH_JOB, kind="launch", options=options)
    await scene.schedule(every(60, job_id=LAUNCH_JOB, overlap=overlap))
    [run_id] = await scene.fire_after(MINUTE)
    tick = (await scene.run(run_id)).tick
    assert tick is not None
    return run_id, tick.key


async def claimed(scene: Scene, overlap: Overlap = Overlap.SKIP) -> Claim:
    """Return the claim of a worker that calls the launcher."""
    run_id, _ = await planned(scene, overlap)
    [claim] = await scene.claim(only=[run_id])
    return claim


async def launched(scene: Scene, overlap: Overlap = Overlap.SKIP) -> Claim:
    """Return the claim of a worker that has saved the launch."""
    claim = await claimed(scene, overlap)
    assert await scene.finish(a_finish(claim, Launched(ID))) == []
    return claim


def key_of(claim: Claim) -> str:
    assert claim.tick is not None
    return claim.tick.key


async def report(
    scene: Scene, claim: Claim, status: Status, *, executor_run_id: str = ID, error: str | None = None
) -> Reported:
    return await scene.storage.orders.report(Report(key_of(claim), status, executor_run_id, error), at=scene.now)


async def expired(scene: Scene) -> list[ExpiredLease]:
    return await scene.storage.upkeep.expired_leases(10, at=scene.now)


async def known(scene: Scene, run_id: RunId) -> LaunchRecord | None:
    found = await scene.storage.queries.find_run(RunById(run_id))
    return None if isinstance(found, Matches) else found.launch
