"""The promises of a storage about renaming jobs."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import HOUR, MINUTE, SECOND
from foliot.domain.run.lease import Finish
from foliot.domain.run.run import Status
from foliot.domain.schedule.tick import JitterMode, TickOutcome
from foliot.ports.pages import RunFilter
from foliot.testing.builders import REPORT, a_run, a_schedule, cron, every, failed, lost, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

DIGEST = JobId("digest")
RENAME = {REPORT: DIGEST}


async def rename(scene: Scene, renames: dict[JobId, JobId] | None = None) -> dict[JobId, JobId]:
    return await scene.storage.definitions.rename_jobs(renames or RENAME, at=scene.now)


class RenameContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_a_renamed_job_has_the_new_id(self, scene: Scene) -> None:
        before = await scene.job(priority=5)
        scene.clock.advance(MINUTE)

        assert await rename(scene) == RENAME

        found = await scene.storage.definitions.get_jobs([REPORT, DIGEST])
        assert list(found) == [DIGEST]
        assert found[DIGEST].spec == before.spec
        assert (found[DIGEST].created_at, found[DIGEST].updated_at) == (before.created_at, scene.now)
        assert found[DIGEST].revision > before.revision

    async def test_a_renamed_job_keeps_its_history(self, scene: Scene) -> None:
        await scene.job()
        done, broken = await scene.start(), await scene.start()
        await scene.finish(succeeded(done), failed(broken))

        await rename(scene)

        assert await scene.storage.queries.page_runs(RunFilter(job_id=REPORT)) == []
        runs = await scene.storage.queries.page_runs(RunFilter(job_id=DIGEST))
        assert [run.id for run in runs] == [broken.run_id, done.run_id]
        assert [
            run.id for run in await scene.storage.queries.page_runs(RunFilter(job_id=DIGEST, status=Status.FAILED))
        ] == [broken.run_id]

    async def test_renaming_a_job_twice_is_a_no_op(self, scene: Scene) -> None:
        await scene.job()
        await rename(scene)
        before = await scene.storage.definitions.get_jobs([DIGEST])
        scene.clock.advance(MINUTE)

        assert await rename(scene) == {}
        assert await scene.storage.definitions.get_jobs([REPORT, DIGEST]) == before

    async def test_a_new_job_with_the_old_id_has_an_unused_revision(self, scene: Scene) -> None:
        await scene.job(priority=1)
        former = await scene.job(priority=2)
        await rename(scene)

        fresh = await scene.job(priority=3)

        assert fresh.id == former.id
        assert fresh.revision > former.revision

    async def test_a_missing_job_is_not_renamed(self, scene: Scene) -> None:
        assert await rename(scene) == {}
        assert await scene.storage.definitions.rename_jobs({}, at=scene.now) == {}

    async def test_a_job_is_not_renamed_to_a_taken_id(self, scene: Scene) -> None:
        await scene.job(REPORT, priority=1)
        await scene.job(DIGEST, priority=2)
        mine = await scene.start()

        assert await rename(scene) == {}

        assert set(await scene.storage.definitions.get_jobs([REPORT, DIGEST])) == {REPORT, DIGEST}
        assert (await scene.run(mine.run_id)).job_id == REPORT

    async def test_chained_renames_are_done_in_one_call(self, scene: Scene) -> None:
        await scene.job("a", priority=1)
        await scene.job("b", priority=2)
        handed_on = {JobId("a"): JobId("b"), JobId("b"): JobId("c")}

        assert await rename(scene, handed_on) == handed_on
        assert await rename(scene, handed_on) == {}

        found = await scene.storage.definitions.get_jobs([JobId("a"), JobId("b"), JobId("c")])
        assert {job_id: job.spec.options.priority for job_id, job in found.items()} == {"b": 1, "c": 2}

    async def test_two_jobs_cannot_swap_ids(self, scene: Scene) -> None:
        await scene.job("a", priority=1)
        await scene.job("b", priority=2)

        assert await rename(scene, {JobId("a"): JobId("b"), JobId("b"): JobId("a")}) == {}

    # -- schedules

    async def test_schedules_named_after_a_job_are_renamed_and_keep_their_ledger(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60), schedule_id="report:default")
        [first] = await scene.fire_after(MINUTE)
        await scene.cancel(first)

        await rename(scene)

        renamed = await scene.stored(ScheduleId("digest:default"))
        assert (renamed.uid, renamed.revision.spec.job_id) == (schedule.uid, DIGEST)
        assert renamed.version > schedule.version
        assert await scene.storage.definitions.get_schedules([schedule.id]) == {}
        assert [tick.run_id for tick in await scene.ticks(schedule.uid)] == [first]
        of_schedule = await scene.storage.queries.page_runs(RunFilter(schedule_id=renamed.id))
        assert [run.tick and run.tick.schedule_id for run in of_schedule] == [renamed.id]
        assert [one.id for one in await scene.storage.definitions.page_schedules(job_id=DIGEST)] == [renamed.id]

    async def test_a_schedule_not_named_after_its_job_is_not_renamed(self, scene: Scene) -> None:
        await scene.schedule(every(60), schedule_id="reporter:default")
        await scene.schedule(every(60), schedule_id="nightly")

        await rename(scene)

        found = await scene.storage.definitions.page_schedules(job_id=DIGEST)
        assert [schedule.id for schedule in found] == ["nightly", "reporter:default"]
        assert {schedule.revision.spec.seed for schedule in found} == {""}

    async def test_a_schedule_is_not_renamed_to_a_taken_name(self, scene: Scene) -> None:
        await scene.schedule(every(60, job_id=JobId("other")), schedule_id="digest:default")
        mine = await scene.schedule(every(60), schedule_id="report:default")

        await rename(scene)

        assert (await scene.stored(mine.id)).revision.spec.job_id == DIGEST

    async def test_schedules_of_a_renamed_job_keep_firing_and_stay_paused(self, scene: Scene) -> None:
        await scene.schedule(every(60), schedule_id="report:a")
        await scene.schedule(every(60), schedule_id="report:b")
        await scene.pause(paused=True, schedule_id=ScheduleId("report:b"))

        await rename(scene)
        [run_id] = await scene.fire_after(MINUTE)

        run = await scene.run(run_id)
        assert (run.job_id, run.tick and run.tick.schedule_id) == (DIGEST, "digest:a")
        assert (await scene.stored(ScheduleId("digest:b"))).paused_at is not None

    @pytest.mark.proves("T2", "T14")
    async def test_a_rename_moves_no_fire_time_and_keeps_the_ledger_sound(self, scene: Scene) -> None:
        """The H of the expression and the jitter are derived from the first name of the schedule."""
        spec = cron("H * * * *", jitter=5 * MINUTE, jitter_mode=JitterMode.AFTER)
        before = await scene.schedule(spec, schedule_id="report:default")
        await scene.fire_after(HOUR + 6 * MINUTE)
        planned = (await scene.stored(before.id)).next_run_at

        await rename(scene)
        [again] = await scene.storage.definitions.put_schedules(
            [a_schedule(replace(spec, job_id=DIGEST), schedule_id="digest:default")], at=scene.now
        )

        assert (again.uid, again.next_run_at, again.revision.number) == (before.uid, planned, 1)
        await scene.fire_after(2 * HOUR)
        assert len(await scene.ticks(before.uid)) >= 2

    async def test_a_firing_decided_before_a_rename_is_not_saved(self, scene: Scene) -> None:
        await scene.schedule(every(60), schedule_id="report:default")
        scene.clock.advance(MINUTE)
        decided = await scene.decide()

        await rename(scene)

        assert await scene.settle(*decided) == []
        [run_id] = await scene.fire()
        assert (await scene.run(run_id)).job_id == DIGEST

    async def test_a_rename_updates_earlier_revisions_of_schedules(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60), schedule_id="report:default")
        await scene.schedule(every(30), schedule_id="report:default")

        await rename(scene)

        [ledger] = await scene.storage.queries.ledgers(ids=[ScheduleId("digest:default")])
        assert ledger.schedule.uid == schedule.uid
        assert {revision.spec.job_id for revision in ledger.revisions} == {DIGEST}
        assert {revision.spec.seed for revision in ledger.revisions} == {"report:default"}

    async def test_a_rename_updates_deleted_schedules(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60), schedule_id="report:default")
        [run_id] = await scene.fire_after(MINUTE)
        await scene.storage.definitions.delete_schedules([schedule.id], at=scene.now)

        await rename(scene)

        runs = await scene.storage.queries.page_runs(RunFilter(schedule_id=ScheduleId("digest:default")))
        assert [run.id for run in runs] == [run_id]
        [ledger] = await scene.storage.queries.ledgers(ids=[ScheduleId("digest:default")])
        assert (ledger.schedule.uid, ledger.deleted_at) == (schedule.uid, scene.now)

    # -- open runs

    async def test_a_rename_keeps_dedupe_keys(self, scene: Scene) -> None:
        await scene.job()
        [first] = await scene.create(a_run(dedupe_key="order-1"))

        await rename(scene)

        assert await scene.create(a_run(job_id=DIGEST, dedupe_key="order-1")) == [first]

    async def test_dedupe_keys_of_a_former_job_with_the_new_id_are_replaced(self, scene: Scene) -> None:
        await scene.job(DIGEST)
        await scene.create(a_run(job_id=DIGEST, dedupe_key="order-1"))
        await scene.storage.definitions.delete_jobs([DIGEST], at=scene.now)
        await scene.job()
        [mine] = await scene.create(a_run(dedupe_key="order-1"))

        await rename(scene)

        assert await scene.create(a_run(job_id=DIGEST, dedupe_key="order-1")) == [mine]

    async def test_waiting_runs_of_a_renamed_job_start_under_the_new_id(self, scene: Scene) -> None:
        await scene.job()
        queued, later = await scene.create(a_run(), a_run(due_at=scene.after(MINUTE)))

        await rename(scene)
        scene.clock.advance(MINUTE)
        await scene.release()

        claims = await scene.claim()
        assert [(claim.run_id, claim.job_id) for claim in claims] == [(queued, DIGEST), (later, DIGEST)]
        assert all(claim.definition_id.startswith(f"job:{DIGEST}@") for claim in claims)

    async def test_running_runs_of_a_renamed_job_are_finished_by_their_worker(self, scene: Scene) -> None:
        await scene.job()
        done, again, gone = await scene.start(), await scene.start(), await scene.start()

        await rename(scene)

        assert await scene.finish(succeeded(done), to_retry(again), lost(gone)) == []
        runs = await scene.storage.queries.get_runs([done.run_id, again.run_id, gone.run_id])
        assert [run.job_id for run in runs.values()] == [DIGEST] * 3
        assert sorted(claim.run_id for claim in await scene.claim()) == [again.run_id, gone.run_id]

    @pytest.mark.proves("L10")
    async def test_max_concurrent_holds_across_a_rename(self, scene: Scene) -> None:
        await scene.job(max_concurrent=1)
        running = await scene.start(a_run(max_concurrent=1))
        [waiting] = await scene.create(a_run(max_concurrent=1, retry_delay=SECOND))

        await rename(scene)
        [fresh] = await scene.create(a_run(job_id=DIGEST, max_concurrent=1))

        assert await scene.claim() == []
        await scene.finish(succeeded(running))
        await scene.storage.admission.admit(100, at=scene.now)
        [second] = await scene.claim()
        assert second.run_id == waiting
        assert second.limit_keys == ("job:digest",)
        await scene.finish(to_retry(second))
        [third] = await scene.claim()
        assert third.run_id == fresh

    @pytest.mark.proves("L10")
    @pytest.mark.parametrize("finish", [succeeded, to_retry], ids=["over", "retried"])
    async def test_a_place_held_before_a_rename_is_released_immediately(
        self, scene: Scene, finish: Callable[..., Finish]
    ) -> None:
        await scene.job(max_concurrent=1)
        running = await scene.start(a_run(max_concurrent=1, retry_delay=SECOND))
        [waiting] = await scene.create(a_run(max_concurrent=1))
        await rename(scene)

        await scene.finish(finish(running))

        assert await scene.ready() == [waiting]

    @pytest.mark.proves("L10")
    async def test_a_rename_keeps_the_capacity_of_the_job_limit(self, scene: Scene) -> None:
        await scene.job(max_concurrent=2)
        first, second = await scene.start(a_run(max_concurrent=2)), await scene.start(a_run(max_concurrent=2))
        waiting = await scene.create(a_run(max_concurrent=2), a_run(max_concurrent=2))

        await rename(scene)
        await scene.finish(succeeded(first))
        await scene.storage.admission.admit(100, at=scene.now)

        [third] = await scene.claim()
        assert third.run_id == waiting[0]
        await scene.finish(succeeded(second), succeeded(third))
        await scene.storage.admission.admit(100, at=scene.now)
        assert [claim.run_id for claim in await scene.claim()] == waiting[1:]

    async def test_a_rename_updates_schedules_of_a_workflow(self, scene: Scene) -> None:
        await scene.job()
        spec = every(60, job_id=None, workflow_id=REPORT)
        mine = await scene.schedule(spec, schedule_id="report:default")
        theirs = await scene.schedule(spec, schedule_id="theirs")

        await rename(scene)

        for before, name in ((mine, "digest:default"), (theirs, "theirs")):
            after = await scene.stored(ScheduleId(name))
            assert (after.uid, after.revision.spec.workflow_id) == (before.uid, DIGEST)
        assert [one.uid for one in await scene.storage.definitions.page_schedules(job_id=DIGEST)] == [
            mine.uid,
            theirs.uid,
        ]

    async def test_a_rename_does_not_change_other_jobs(self, scene: Scene) -> None:
        other = JobId("report2")
        await scene.schedule(every(60), schedule_id="report:default")
        kept = await scene.schedule(every(60, job_id=other), schedule_id="report2:default")
        running = await scene.start(a_run(job_id=other, max_concurrent=1))
        [waiting] = await scene.create(a_run(job_id=other, max_concurrent=1))

        await rename(scene)

        assert await scene.stored(kept.id) == kept
        assert {(await scene.run(run_id)).job_id for run_id in (running.run_id, waiting)} == {other}
        await scene.finish(succeeded(running))
        assert [claim.limit_keys for claim in await scene.claim()] == [("job:report2",)]

    async def test_a_rename_writes_one_event_for_each_changed_item(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60), schedule_id="report:default")

        await rename(scene)
        await rename(scene)

        [job] = (await scene.storage.definitions.get_jobs([DIGEST])).values()
        assert await scene.items(EventKind.JOB_RENAMED) == [[REPORT, DIGEST, job.revision]]
        renamed = await scene.stored(ScheduleId("digest:default"))
        assert (await scene.items(EventKind.SCHEDULE_CHANGED))[-1] == [renamed.id, schedule.uid, renamed.version]

    @pytest.mark.proves("L10")
    async def test_workers_claim_while_jobs_are_renamed_repeatedly(self, scene: Scene, another: Another) -> None:
        await scene.job(max_concurrent=3)
        runs = await scene.create(*[a_run(max_concurrent=3) for _ in range(30)])
        worker = await scene.standby()
        other = await another()

        async def work() -> None:
            for _ in range(40):
                claimed = await other.work.claim(worker.id, ["default"], 3, at=scene.now)
                await other.work.finish([succeeded(claim) for claim in claimed.claims], at=scene.now)
                await other.admission.admit(100, at=scene.now)

        async def rename_often() -> None:
            for _ in range(10):
                await rename(scene)
                await rename(scene, {DIGEST: REPORT})

        await asyncio.gather(work(), rename_often())

        assert set(await scene.statuses(*runs)) == {Status.SUCCESS}
        assert {run.job_id for run in (await scene.storage.queries.get_runs(runs)).values()} == {REPORT}

    async def test_a_planned_tick_of_a_renamed_job_still_fires(self, scene: Scene) -> None:
        spec = every(3_600, jitter=30 * MINUTE, jitter_mode=JitterMode.AFTER)
        schedule = await scene.schedule(spec, schedule_id="report:default")
        await scene.fire_after(HOUR)

        await rename(scene)
        wake_at = (await scene.stored(ScheduleId("digest:default"))).wake_at
        await scene.fire_after((wake_at or 0) - scene.now)

        [tick] = await scene.ticks(schedule.uid)
        assert tick.outcome is TickOutcome.RAN
