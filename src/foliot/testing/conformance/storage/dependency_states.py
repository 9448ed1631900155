"""The promises of a storage about dependency states: the latest ends of jobs, as gates read them."""

import asyncio

import pytest

from foliot.domain.gate.decision import DependencyState, End
from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, MINUTE, SECOND, Instant
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.testing.builders import REPORT, a_run, a_run_id, failed, succeeded, to_retry
from foliot.testing.conformance.storage.gates import FAIL, SKIP, decide
from foliot.testing.conformance.storage.scene import Another, Contract, Scene
from foliot.testing.conformance.storage.tree_builders import final_settlement, opened, settle


class DependencyStateContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("D10")
    async def test_a_dependency_state_has_the_latest_end_in_the_window(self, scene: Scene) -> None:
        await watch(scene)
        ends = []
        for _ in range(3):
            scene.clock.advance(SECOND)
            ends.append(await ended(scene))

        for end in ends:
            assert await sight(scene, until=end.finished_at) == DependencyState(end)
        assert await sight(scene, after=ends[0].finished_at, until=ends[1].finished_at) == DependencyState(ends[1])
        assert await sight(scene, after=ends[2].finished_at) == DependencyState(None)
        assert await sight(scene, until=Instant(ends[0].finished_at - 1)) == DependencyState(None)

    @pytest.mark.proves("D10")
    async def test_a_dependency_state_goes_by_the_end_of_a_run_not_its_start(self, scene: Scene) -> None:
        await watch(scene)
        early, late = await scene.start(), await scene.start()
        await scene.finish(failed(late))
        scene.clock.advance(SECOND)
        await scene.finish(succeeded(early))

        assert (await sight(scene)).end == End(early.run_id, Status.SUCCESS, scene.now)

    async def test_ends_before_the_job_was_watched_are_read(self, scene: Scene) -> None:
        old = await ended(scene)
        assert await sight(scene) == DependencyState(None)

        for _ in range(2):
            await watch(scene)

        assert await sight(scene) == DependencyState(old)

    async def test_dependency_states_are_read_per_job(self, scene: Scene) -> None:
        await watch(scene, "a", "b")
        end = await ended(scene, "a")
        await ended(scene, "c")

        found = await scene.storage.admission.dependency_states(
            [JobId("a"), JobId("b"), JobId("c")], after=Instant(0), until=scene.now
        )

        assert found == {"a": DependencyState(end), "b": DependencyState(None), "c": DependencyState(None)}

    async def test_every_verb_that_ends_a_run_records_its_end(self, scene: Scene) -> None:
        await watch(scene, REPORT, "etl")

        async def seen(job_id: str = REPORT) -> Status | None:
            end = (await sight(scene, job_id)).end
            scene.clock.advance(SECOND)
            return None if end is None else end.status

        await scene.finish(succeeded(await scene.start()))
        assert await seen() is Status.SUCCESS
        await scene.finish(failed(await scene.start()))
        assert await seen() is Status.FAILED
        await scene.finish(succeeded(await scene.start(), b"1"))
        assert await seen() is Status.SUCCESS
        [run_id] = await scene.create(a_run())
        await scene.cancel(run_id)
        assert await seen() is Status.CANCELLED
        await scene.storage.orders.mark({run_id: a_run_id()}, at=scene.now)
        assert await seen() is Status.SUCCESS
        [run_id] = await scene.create(a_run(is_gated=True))
        await decide(scene, run_id, SKIP)
        assert await seen() is Status.SKIPPED
        [run_id] = await scene.create(a_run())
        await scene.storage.orders.mark({run_id: a_run_id()}, at=scene.now)
        assert await seen() is Status.SUCCESS
        [run_id] = await scene.create(a_run())
        await scene.storage.orders.answer({run_id: Ended(Status.FAILED, Reason.REJECTED)}, at=scene.now)
        assert await seen() is Status.FAILED
        await settle(scene, final_settlement(await opened(scene)))
        assert await seen("etl") is Status.SUCCESS

    async def test_a_due_or_running_run_is_expected(self, scene: Scene) -> None:
        await scene.create(a_run(due_at=scene.after(MINUTE)))
        assert not (await sight(scene)).is_expected

        claim = await scene.start(a_run(retry_delay=MINUTE))
        assert (await sight(scene)).is_expected
        await scene.finish(to_retry(claim))
        assert (await sight(scene)).is_expected
        await scene.cancel(claim.run_id)

        assert not (await sight(scene)).is_expected

    async def test_an_execution_is_expected_until_it_ends(self, scene: Scene) -> None:
        execution = await opened(scene)
        assert (await sight(scene, "etl")).is_expected

        await settle(scene, final_settlement(execution))

        assert not (await sight(scene, "etl")).is_expected

    async def test_the_latest_end_with_a_status_is_found(self, scene: Scene) -> None:
        await watch(scene)
        success = await ended(scene)
        scene.clock.advance(SECOND)
        failure = await ended(scene, status=Status.FAILED)

        assert (
            await scene.storage.admission.latest_end(REPORT, [Status.SUCCESS, Status.PARTIAL], until=scene.now)
            == success
        )
        assert (
            await scene.storage.admission.latest_end(REPORT, [Status.SUCCESS, Status.FAILED], until=scene.now)
            == failure
        )
        assert await scene.storage.admission.latest_end(REPORT, [Status.FAILED], until=success.finished_at) is None

    async def test_the_latest_end_with_a_reason_is_found(self, scene: Scene) -> None:
        await watch(scene)
        [run_id] = await scene.create(a_run(is_gated=True))
        await decide(scene, run_id, FAIL)
        declined_at = scene.now
        scene.clock.advance(SECOND)
        await ended(scene, status=Status.FAILED)
        statuses, because = [Status.SKIPPED, Status.FAILED], [Reason.DEP_MISSING, Reason.DEP_FAILED]

        found = await scene.storage.admission.latest_end(REPORT, statuses, reasons=because, until=scene.now)

        assert found == End(run_id, Status.FAILED, declined_at)

    async def test_the_latest_end_matches_job_and_status_exactly(self, scene: Scene) -> None:
        """With names that sort immediately before and after the given ones."""
        neighbours = [JobId("repor"), JobId("reports"), JobId("a"), JobId("z")]
        await scene.storage.definitions.watch_jobs(dict.fromkeys([REPORT, *neighbours], DAY))
        for job_id in neighbours:
            await ended(scene, job_id, status=Status.SUCCESS)
            [gated] = await scene.create(a_run(job_id=job_id, is_gated=True))
            await decide(scene, gated, SKIP)
        await ended(scene, status=Status.FAILED)
        scene.clock.advance(SECOND)
        because = [Reason.DEP_MISSING, Reason.DEP_FAILED]

        for status in (Status.SUCCESS, Status.SKIPPED, Status.CANCELLED, Status.TIMEOUT):
            assert await scene.storage.admission.latest_end(REPORT, [status], until=scene.now) is None
            assert await scene.storage.admission.latest_end(REPORT, [status], reasons=because, until=scene.now) is None
        assert (
            await scene.storage.admission.latest_end(REPORT, [Status.FAILED], reasons=because, until=scene.now) is None
        )

    async def test_a_renamed_job_keeps_its_ends(self, scene: Scene) -> None:
        await scene.job()
        await watch(scene)
        running = await scene.start()
        end = await ended(scene)
        await scene.storage.definitions.rename_jobs({REPORT: JobId("account")}, at=scene.now)
        assert (await sight(scene, "account")).end == end
        scene.clock.advance(SECOND)

        await scene.finish(failed(running))

        assert (await sight(scene, "account")).end == End(running.run_id, Status.FAILED, scene.now)

    async def test_no_end_is_lost_while_a_job_becomes_watched(self, scene: Scene, another: Another) -> None:
        other = Scene(await another(), scene.clock)
        jobs = [f"job-{number}" for number in range(10)]
        claims = [await scene.start(a_run(job_id=JobId(job_id))) for job_id in jobs]

        await asyncio.gather(
            *(scene.finish(succeeded(claim)) for claim in claims), *(watch(other, job) for job in jobs)
        )

        for job_id, claim in zip(jobs, claims, strict=True):
            assert await sight(scene, job_id) == DependencyState(End(claim.run_id, Status.SUCCESS, scene.now))


async def watch(scene: Scene, *job_ids: str) -> None:
    await scene.storage.definitions.watch_jobs({JobId(job_id): DAY for job_id in job_ids or (REPORT,)})


async def sight(
    scene: Scene, job_id: str = REPORT, *, after: Instant | None = None, until: Instant | None = None
) -> DependencyState:
    found = await scene.storage.admission.dependency_states(
        [JobId(job_id)], after=after or Instant(0), until=until or scene.now
    )
    return found[JobId(job_id)]


async def ended(scene: Scene, job_id: str = REPORT, status: Status = Status.SUCCESS) -> End:
    """Create a run and end it now."""
    claim = await scene.start(a_run(job_id=JobId(job_id)))
    await scene.finish(succeeded(claim) if status is Status.SUCCESS else failed(claim))
    return End(claim.run_id, status, scene.now)
