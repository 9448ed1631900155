"""The promises of a storage about jobs."""

import pytest

from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE
from foliot.domain.job.job import DEFAULT_PROJECT
from foliot.domain.run.run import Status
from foliot.errors import ChangedMeanwhile
from foliot.testing.builders import REPORT, a_job_spec, a_run, every, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene

OTHER = JobId("other")


class JobContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R1-10", "R1-54")
    async def test_a_job_is_read_as_it_was_put(self, scene: Scene) -> None:
        spec = a_job_spec(spec={"command": "true"}, payload_template={"day": 1}, priority=5, timeout=1_000)

        [put] = await scene.storage.definitions.put_jobs([(REPORT, spec)], at=scene.now)

        assert put.spec == spec
        assert (put.id, put.project, put.revision) == (REPORT, DEFAULT_PROJECT, 1)
        assert put.created_at == put.updated_at == scene.now
        assert await scene.storage.definitions.get_jobs([REPORT]) == {REPORT: put}

    async def test_the_last_of_two_definitions_of_a_job_in_one_call_is_stored(self, scene: Scene) -> None:
        given = [(REPORT, a_job_spec(priority=5)), (REPORT, a_job_spec(priority=6))]

        first, last = await scene.storage.definitions.put_jobs(given, at=scene.now)

        assert first == last == (await scene.storage.definitions.get_jobs([REPORT]))[REPORT]
        assert (last.spec.options.priority, last.revision) == (6, 1)
        assert await scene.storage.definitions.put_jobs(given, at=scene.now) == [last, last]

    async def test_putting_an_equal_definition_changes_nothing(self, scene: Scene) -> None:
        before = await scene.job(priority=5)
        scene.clock.advance(MINUTE)

        after = await scene.job(priority=5)

        assert after == before

    @pytest.mark.proves("A4")
    async def test_an_edit_of_another_revision_than_the_expected_one_stores_nothing(self, scene: Scene) -> None:
        definitions, other = scene.storage.definitions, OTHER
        before = await scene.job(priority=5)
        edit = [(other, a_job_spec()), (REPORT, a_job_spec(description="new"))]

        for expected in ({REPORT: before.revision + 1}, {REPORT: before.revision, other: 7}):
            with pytest.raises(ChangedMeanwhile):
                await definitions.put_jobs(edit, expected=expected, at=scene.now)
        assert await definitions.get_jobs([REPORT, other]) == {REPORT: before}

        put = await definitions.put_jobs(edit, expected={REPORT: before.revision}, at=scene.now)
        assert await definitions.put_jobs(edit, expected={REPORT: before.revision}, at=scene.now) == put

    @pytest.mark.proves("R1-10")
    async def test_a_changed_job_gets_a_higher_revision(self, scene: Scene) -> None:
        before = await scene.job(priority=5)
        scene.clock.advance(MINUTE)

        after = await scene.job(priority=6)

        assert after.spec.options.priority == 6
        assert after.revision == before.revision + 1
        assert (after.created_at, after.updated_at) == (before.created_at, scene.now)

    async def test_a_paused_job_stays_paused_when_it_is_changed_or_renamed(self, scene: Scene) -> None:
        await scene.job()
        definitions = scene.storage.definitions
        await definitions.pause_job(REPORT, paused=True, at=scene.now)
        since = scene.now
        scene.clock.advance(MINUTE)
        await definitions.pause_job(REPORT, paused=True, at=scene.now)

        [changed] = await definitions.put_jobs([(REPORT, a_job_spec(description="new"))], at=scene.now)
        await definitions.rename_jobs({REPORT: OTHER}, at=scene.now)

        [renamed] = await definitions.page_jobs()
        assert (changed.paused_at, renamed.id, renamed.paused_at) == (since, OTHER, since)

    async def test_a_resumed_job_and_a_new_one_of_the_same_id_are_not_paused(self, scene: Scene) -> None:
        await scene.job()
        definitions = scene.storage.definitions
        for step in ("resume", "delete"):
            await definitions.pause_job(REPORT, paused=True)
            if step == "resume":
                await definitions.pause_job(REPORT, paused=False)
            else:
                await definitions.delete_jobs([REPORT])
                await scene.job()
            assert (await definitions.get_jobs([REPORT]))[REPORT].paused_at is None

    async def test_pausing_a_job_that_does_not_exist_changes_nothing(self, scene: Scene) -> None:
        await scene.storage.definitions.pause_job(REPORT, paused=True)

        assert await scene.storage.definitions.get_jobs([REPORT]) == {}

    @pytest.mark.proves("R1-11")
    async def test_running_a_job_does_not_change_it(self, scene: Scene) -> None:
        before = await scene.job()
        scene.clock.advance(MINUTE)

        await scene.finish(succeeded(await scene.start()))

        assert await scene.storage.definitions.get_jobs([REPORT]) == {REPORT: before}

    async def test_several_jobs_are_put_in_one_call_and_returned_in_order(self, scene: Scene) -> None:
        wanted = [(JobId(name), a_job_spec(name=name)) for name in ("c", "a", "b")]

        put = await scene.storage.definitions.put_jobs(wanted, at=scene.now)

        assert [(job.id, job.spec) for job in put] == wanted

    async def test_only_jobs_that_exist_are_found(self, scene: Scene) -> None:
        job = await scene.job()

        assert await scene.storage.definitions.get_jobs([REPORT, OTHER]) == {REPORT: job}
        assert await scene.storage.definitions.get_jobs([]) == {}

    @pytest.mark.proves("A5")
    async def test_jobs_are_listed_by_id_page_by_page(self, scene: Scene) -> None:
        for name in ("c", "a", "d", "b"):
            await scene.job(name)

        first = await scene.storage.definitions.page_jobs(limit=3)
        second = await scene.storage.definitions.page_jobs(after=first[-1].id, limit=3)

        assert [job.id for job in first] == ["a", "b", "c"]
        assert [job.id for job in second] == ["d"]

    async def test_deleting_jobs_returns_those_that_existed(self, scene: Scene) -> None:
        await scene.job()

        assert await scene.storage.definitions.delete_jobs([REPORT, OTHER], at=scene.now) == [REPORT]
        assert await scene.storage.definitions.delete_jobs([REPORT], at=scene.now) == []
        assert await scene.storage.definitions.get_jobs([REPORT]) == {}

    async def test_deleting_a_job_deletes_its_schedules_and_no_others(self, scene: Scene) -> None:
        mine = await scene.schedule(every(60), schedule_id="mine")
        others = await scene.schedule(every(60, job_id=OTHER), schedule_id="others")

        await scene.storage.definitions.delete_jobs([REPORT], at=scene.now)

        assert await scene.storage.definitions.get_schedules([mine.id, others.id]) == {others.id: others}

    async def test_deleting_a_job_cancels_runs_that_have_not_started(self, scene: Scene) -> None:
        await scene.job()
        waiting, later = await scene.create(a_run(), a_run(due_at=scene.after(MINUTE)))
        [foreign] = await scene.create(a_run(job_id=OTHER))

        await scene.storage.definitions.delete_jobs([REPORT], at=scene.now)

        assert await scene.statuses(waiting, later, foreign) == [Status.CANCELLED, Status.CANCELLED, Status.QUEUED]
        assert [claim.run_id for claim in await scene.claim()] == [foreign]

    @pytest.mark.parametrize("capacity", [None, 2], ids=["unlimited", "limited"])
    async def test_deleting_a_job_keeps_its_history_and_running_runs(self, scene: Scene, capacity: int | None) -> None:
        await scene.job()
        done, running = [await scene.start(a_run(max_concurrent=capacity)) for _ in range(2)]
        await scene.finish(succeeded(done))

        await scene.storage.definitions.delete_jobs([REPORT], at=scene.now)

        assert await scene.statuses(done.run_id, running.run_id) == [Status.SUCCESS, Status.RUNNING]
        assert await scene.finish(succeeded(running)) == []

    async def test_a_job_with_the_id_of_a_deleted_one_is_new(self, scene: Scene) -> None:
        await scene.job()
        await scene.storage.definitions.delete_jobs([REPORT], at=scene.now)
        scene.clock.advance(MINUTE)

        again = await scene.job()

        assert again.created_at == scene.now

    async def test_a_job_with_the_id_of_a_deleted_one_has_an_unused_revision(self, scene: Scene) -> None:
        """Workers cache definitions by id and revision: they must not confuse the new job with the old one."""
        await scene.job(priority=1)
        former = await scene.job(priority=2)
        await scene.storage.definitions.delete_jobs([REPORT], at=scene.now)

        again = await scene.job(priority=3)

        assert again.revision > former.revision
