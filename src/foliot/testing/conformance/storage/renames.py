"""A job gets another id: what a storage promises about everything that bears its name."""

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
from foliot.ports.queries import RunFilter
from foliot.testing.builders import REPORT, a_run, a_schedule, cron, every, failed, lost, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

DIGEST = JobId("digest")
RENAME = {REPORT: DIGEST}


async def rename(scene: Scene, renames: dict[JobId, JobId] | None = None) -> dict[JobId, JobId]:
    return await scene.storage.definitions.rename_jobs(renames or RENAME, at=scene.now)


class RenameContract(Contract):
    """Every storage passes these, unchanged."""

    async def test_the_definition_has_the_new_id(self, scene: Scene) -> None:
        before = await scene.job(priority=5)
        scene.clock.advance(MINUTE)

        assert await rename(scene) == RENAME

        found = await scene.storage.definitions.get_jobs([REPORT, DIGEST])
        assert list(found) == [DIGEST]
        assert found[DIGEST].spec == before.spec
        assert (found[DIGEST].created_at, found[DIGEST].updated_at) == (before.created_at, scene.now)
        assert found[DIGEST].revision > before.revision

    async def test_history_comes_along(self, scene: Scene) -> None:
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

    async def test_doing_it_again_does_nothing(self, scene: Scene) -> None:
        await scene.job()
        await rename(scene)
        before = await scene.storage.definitions.get_jobs([DIGEST])
        scene.clock.advance(MINUTE)

        assert await rename(scene) == {}
        assert await scene.storage.definitions.get_jobs([REPORT, DIGEST]) == before

    async def test_a_new_job_of_the_old_id_has_a_revision_that_the_former_never_had(self, scene: Scene) -> None:
        await scene.job(priority=1)
        former = await scene.job(priority=2)
        await rename(scene)

        fresh = await scene.job(priority=3)

        assert fresh.id == former.id
        assert fresh.revision > former.revision

    async def test_a_job_that_is_not_there_cannot_be_renamed(self, scene: Scene) -> None:
        assert await rename(scene) == {}
        assert await scene.storage.definitions.rename_jobs({}, at=scene.now) == {}

    async def test_an_id_that_is_taken_is_left_alone(self, scene: Scene) -> None:
        await scene.job(REPORT, priority=1)
        await scene.job(DIGEST, priority=2)
        mine = await scene.start()

        assert await rename(scene) == {}

        assert set(await scene.storage.definitions.get_jobs([REPORT, DIGEST])) == {REPORT, DIGEST}
        assert (await scene.run(mine.run_id)).job_id == REPORT

    async def test_ids_can_be_handed_on_in_one_go(self, scene: Scene) -> None:
        await scene.job("a", priority=1)
        await scene.job("b", priority=2)
        handed_on = {JobId("a"): JobId("b"), JobId("b"): JobId("c")}

        assert await rename(scene, handed_on) == handed_on
        assert await rename(scene, handed_on) == {}

        found = await scene.storage.definitions.get_jobs([JobId("a"), JobId("b"), JobId("c")])
        assert {job_id: job.spec.options.priority for job_id, job in found.items()} == {"b": 1, "c": 2}

    async def test_two_jobs_that_change_places_stay_where_they_are(self, scene: Scene) -> None:
        await scene.job("a", priority=1)
        await scene.job("b", priority=2)

        assert await rename(scene, {JobId("a"): JobId("b"), JobId("b"): JobId("a")}) == {}

    # -- schedules

    async def test_its_schedules_are_named_after_it_and_keep_their_ledger(self, scene: Scene) -> None:
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

    async def test_a_schedule_with_a_name_of_its_own_keeps_it(self, scene: Scene) -> None:
        await scene.schedule(every(60), schedule_id="reporter:default")
        await scene.schedule(every(60), schedule_id="nightly")

        await rename(scene)

        found = await scene.storage.definitions.page_schedules(job_id=DIGEST)
        assert [schedule.id for schedule in found] == ["nightly", "reporter:default"]
        assert {schedule.revision.spec.seed for schedule in found} == {""}

    async def test_a_schedule_keeps_its_name_where_the_new_one_is_taken(self, scene: Scene) -> None:
        await scene.schedule(every(60, job_id=JobId("other")), schedule_id="digest:default")
        mine = await scene.schedule(every(60), schedule_id="report:default")

        await rename(scene)

        assert (await scene.stored(mine.id)).revision.spec.job_id == DIGEST

    async def test_it_goes_on_firing_and_paused_stays_paused(self, scene: Scene) -> None:
        await scene.schedule(every(60), schedule_id="report:a")
        await scene.schedule(every(60), schedule_id="report:b")
        await scene.pause(paused=True, schedule_id=ScheduleId("report:b"))

        await rename(scene)
        [run_id] = await scene.fire_after(MINUTE)

        run = await scene.run(run_id)
        assert (run.job_id, run.tick and run.tick.schedule_id) == (DIGEST, "digest:a")
        assert (await scene.stored(ScheduleId("digest:b"))).paused_at is not None

    @pytest.mark.proves("T2", "T14")
    async def test_no_fire_time_moves_and_the_past_stays_right(self, scene: Scene) -> None:
        """The H of the expression and the jitter come from the schedule's name: from the one it had."""
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

    async def test_a_decision_made_before_is_not_saved_after(self, scene: Scene) -> None:
        await scene.schedule(every(60), schedule_id="report:default")
        scene.clock.advance(MINUTE)
        decided = await scene.decide()

        await rename(scene)

        assert await scene.settle(*decided) == []
        [run_id] = await scene.fire()
        assert (await scene.run(run_id)).job_id == DIGEST

    async def test_earlier_rules_name_the_new_job_too(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60), schedule_id="report:default")
        await scene.schedule(every(30), schedule_id="report:default")

        await rename(scene)

        [ledger] = await scene.storage.queries.ledgers(ids=[ScheduleId("digest:default")])
        assert ledger.schedule.uid == schedule.uid
        assert {revision.spec.job_id for revision in ledger.revisions} == {DIGEST}
        assert {revision.spec.seed for revision in ledger.revisions} == {"report:default"}

    async def test_deleted_schedules_come_along(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60), schedule_id="report:default")
        [run_id] = await scene.fire_after(MINUTE)
        await scene.storage.definitions.delete_schedules([schedule.id], at=scene.now)

        await rename(scene)

        runs = await scene.storage.queries.page_runs(RunFilter(schedule_id=ScheduleId("digest:default")))
        assert [run.id for run in runs] == [run_id]
        [ledger] = await scene.storage.queries.ledgers(ids=[ScheduleId("digest:default")])
        assert (ledger.schedule.uid, ledger.deleted_at) == (schedule.uid, scene.now)

    # -- what is under way

    async def test_a_dedupe_key_still_binds(self, scene: Scene) -> None:
        await scene.job()
        [first] = await scene.create(a_run(dedupe_key="order-1"))

        await rename(scene)

        assert await scene.create(a_run(job_id=DIGEST, dedupe_key="order-1")) == [first]

    async def test_the_keys_of_an_earlier_job_of_that_name_give_way(self, scene: Scene) -> None:
        await scene.job(DIGEST)
        await scene.create(a_run(job_id=DIGEST, dedupe_key="order-1"))
        await scene.storage.definitions.delete_jobs([DIGEST], at=scene.now)
        await scene.job()
        [mine] = await scene.create(a_run(dedupe_key="order-1"))

        await rename(scene)

        assert await scene.create(a_run(job_id=DIGEST, dedupe_key="order-1")) == [mine]

    async def test_what_waits_starts_under_the_new_name(self, scene: Scene) -> None:
        await scene.job()
        queued, later = await scene.create(a_run(), a_run(due_at=scene.after(MINUTE)))

        await rename(scene)
        scene.clock.advance(MINUTE)
        await scene.release()

        claims = await scene.claim()
        assert [(claim.run_id, claim.job_id) for claim in claims] == [(queued, DIGEST), (later, DIGEST)]
        assert all(claim.definition_id.startswith(f"job:{DIGEST}@") for claim in claims)

    @pytest.mark.proves("L1")
    async def test_what_runs_goes_on_and_is_finished_by_its_worker(self, scene: Scene) -> None:
        await scene.job()
        done, again, gone = await scene.start(), await scene.start(), await scene.start()

        await rename(scene)

        assert await scene.finish(succeeded(done), to_retry(again), lost(gone)) == []
        runs = await scene.storage.queries.get_runs([done.run_id, again.run_id, gone.run_id])
        assert [run.job_id for run in runs.values()] == [DIGEST] * 3
        assert sorted(claim.run_id for claim in await scene.claim()) == [again.run_id, gone.run_id]

    @pytest.mark.proves("L10")
    async def test_no_more_than_allowed_are_under_way_across_the_rename(self, scene: Scene) -> None:
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
    async def test_a_place_is_handed_on_at_once_when_who_held_it_before_the_rename_ends(
        self, scene: Scene, finish: Callable[..., Finish]
    ) -> None:
        await scene.job(max_concurrent=1)
        running = await scene.start(a_run(max_concurrent=1, retry_delay=SECOND))
        [waiting] = await scene.create(a_run(max_concurrent=1))
        await rename(scene)

        await scene.finish(finish(running))

        assert await scene.ready() == [waiting]

    @pytest.mark.proves("L10")
    async def test_as_many_as_before_may_be_under_way_after_the_rename(self, scene: Scene) -> None:
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

    async def test_the_schedules_of_a_workflow_come_along(self, scene: Scene) -> None:
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

    async def test_other_jobs_are_left_alone(self, scene: Scene) -> None:
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

    async def test_a_rename_is_one_event_for_each_thing_that_it_changes(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60), schedule_id="report:default")

        await rename(scene)
        await rename(scene)

        [job] = (await scene.storage.definitions.get_jobs([DIGEST])).values()
        assert await scene.items(EventKind.JOB_RENAMED) == [[REPORT, DIGEST, job.revision]]
        renamed = await scene.stored(ScheduleId("digest:default"))
        assert (await scene.items(EventKind.SCHEDULE_CHANGED))[-1] == [renamed.id, schedule.uid, renamed.version]

    @pytest.mark.proves("L10", "S8")
    async def test_workers_go_on_while_jobs_are_renamed_back_and_forth(self, scene: Scene, another: Another) -> None:
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

    async def test_a_tick_that_waits_for_its_moment_still_fires(self, scene: Scene) -> None:
        spec = every(3_600, jitter=30 * MINUTE, jitter_mode=JitterMode.AFTER)
        schedule = await scene.schedule(spec, schedule_id="report:default")
        await scene.fire_after(HOUR)

        await rename(scene)
        wake_at = (await scene.stored(ScheduleId("digest:default"))).wake_at
        await scene.fire_after((wake_at or 0) - scene.now)

        [tick] = await scene.ticks(schedule.uid)
        assert tick.outcome is TickOutcome.RAN
