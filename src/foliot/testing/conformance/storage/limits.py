"""The promises of a storage about limits."""

import pytest

from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.run.run import Status
from foliot.testing.builders import a_run, failed, given_back, lost, retention, some_runs, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Contract, Scene


class LimitContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("L10")
    async def test_no_more_runs_start_than_the_limit_allows(self, scene: Scene) -> None:
        await scene.create(*some_runs(5, max_concurrent=2))

        claims = await scene.claim()

        assert len(claims) == 2
        assert await scene.claim() == []

    @pytest.mark.proves("L10")
    async def test_a_run_that_waits_for_a_limit_is_queued_and_not_ready(self, scene: Scene) -> None:
        first, second = await scene.create(*some_runs(2, max_concurrent=1))

        assert await scene.ready() == [first]
        assert await scene.statuses(first, second) == [Status.QUEUED, Status.QUEUED]

    @pytest.mark.proves("L10", "S6")
    async def test_a_released_place_goes_to_the_next_run(self, scene: Scene) -> None:
        first, second, third = await scene.create(*some_runs(3, max_concurrent=1))
        [claim] = await scene.claim()

        await scene.finish(succeeded(claim))

        assert claim.run_id == first
        assert await scene.ready() == [second]
        assert await scene.status(third) is Status.QUEUED

    async def test_several_places_released_together_are_all_used(self, scene: Scene) -> None:
        await scene.create(*some_runs(5, max_concurrent=3))
        claims = await scene.claim()

        await scene.finish(*(failed(claim) for claim in claims))

        assert len(await scene.claim()) == 2

    async def test_places_are_assigned_in_rank_order(self, scene: Scene) -> None:
        holder = await scene.start(a_run(max_concurrent=1))
        low, high = await scene.create(a_run(max_concurrent=1), a_run(max_concurrent=1, priority=5))
        scene.clock.advance(SECOND)

        await scene.finish(succeeded(holder))

        assert await scene.ready() == [high]
        assert await scene.status(low) is Status.QUEUED

    @pytest.mark.proves("L10")
    async def test_a_concurrency_key_is_shared_by_all_jobs_that_use_it(self, scene: Scene) -> None:
        first = a_run(concurrency_key="disk")
        second = a_run(concurrency_key="disk", job_id=JobId("other"))
        free = a_run(concurrency_key="tape")
        await scene.create(first, second, free)

        assert [claim.run_id for claim in await scene.claim()] == [first.id, free.id]

    async def test_a_job_limit_does_not_affect_other_jobs(self, scene: Scene) -> None:
        runs = [a_run(max_concurrent=1, job_id=JobId(name)) for name in ("a", "b", "a")]
        await scene.create(*runs)

        assert [claim.run_id for claim in await scene.claim()] == [runs[0].id, runs[1].id]

    async def test_a_run_gets_all_its_places_or_none(self, scene: Scene) -> None:
        disk = await scene.start(a_run(concurrency_key="disk", job_id=JobId("other")))
        both, one = await scene.create(a_run(concurrency_key="disk", max_concurrent=1), a_run(max_concurrent=1))

        assert await scene.ready() == [one]

        [passing] = await scene.claim()
        await scene.finish(succeeded(disk))
        assert await scene.ready() == []
        await scene.finish(succeeded(passing))
        assert await scene.ready() == [both]

    async def test_runs_without_limits_overtake_waiting_ones(self, scene: Scene) -> None:
        await scene.start(a_run(max_concurrent=1))
        _, free = await scene.create(a_run(max_concurrent=1), a_run())

        assert await scene.ready() == [free]

    @pytest.mark.proves("L10")
    async def test_a_retry_releases_its_place_and_waits_for_one_when_due(self, scene: Scene) -> None:
        first, second = await scene.create(*some_runs(2, max_concurrent=1, retry_delay=MINUTE))
        [claim] = await scene.claim()
        await scene.finish(to_retry(claim))
        [other] = await scene.claim()
        scene.clock.advance(MINUTE)

        released = await scene.release()

        assert other.run_id == second
        assert (released.count, await scene.ready()) == (1, [])
        assert await scene.status(first) is Status.QUEUED
        await scene.finish(succeeded(other))
        assert await scene.ready() == [first]

    async def test_a_retry_without_delay_competes_by_rank(self, scene: Scene) -> None:
        first, second = await scene.create(*some_runs(2, max_concurrent=1))
        [claim] = await scene.claim()
        scene.clock.advance(MINUTE)

        await scene.finish(to_retry(claim))

        assert await scene.ready() == [second]
        assert await scene.status(first) is Status.QUEUED

    async def test_a_lost_attempt_releases_its_place(self, scene: Scene) -> None:
        _, second = await scene.create(*some_runs(2, max_concurrent=1))
        [claim] = await scene.claim()
        scene.clock.advance(MINUTE)

        await scene.finish(lost(claim))

        assert await scene.ready() == [second]

    async def test_a_run_given_back_keeps_its_places(self, scene: Scene) -> None:
        first, _ = await scene.create(*some_runs(2, max_concurrent=1))
        [claim] = await scene.claim()

        await scene.finish(given_back(claim))

        assert await scene.ready() == [first]

    async def test_a_cancelled_run_releases_its_place(self, scene: Scene) -> None:
        first, second = await scene.create(*some_runs(2, max_concurrent=1))

        await scene.cancel(first)

        assert await scene.ready() == [second]

    async def test_a_scheduled_run_takes_no_place_before_it_is_due(self, scene: Scene) -> None:
        later = a_run(max_concurrent=1, due_at=scene.after(MINUTE))
        now = a_run(max_concurrent=1)

        await scene.create(later, now)

        assert await scene.ready() == [now.id]

    async def test_a_due_run_that_waits_for_a_limit_counts_as_released(self, scene: Scene) -> None:
        await scene.start(a_run(max_concurrent=1))
        [later] = await scene.create(a_run(max_concurrent=1, due_at=scene.after(MINUTE)))
        scene.clock.advance(MINUTE)

        assert await scene.release() == (1, None)
        assert (await scene.status(later), await scene.ready()) == (Status.QUEUED, [])

    async def test_the_newest_run_sets_the_capacity_of_a_limit(self, scene: Scene) -> None:
        await scene.start(a_run(max_concurrent=1))
        [waiting] = await scene.create(a_run(max_concurrent=1))

        [newest] = await scene.create(a_run(max_concurrent=3))

        assert await scene.ready() == [waiting, newest]

    @pytest.mark.proves("L10")
    async def test_retention_keeps_limits_that_are_held_or_awaited(self, scene: Scene) -> None:
        await scene.create(*some_runs(5, max_concurrent=3))
        first, *_ = await scene.claim()
        await scene.prune(retention())

        await scene.finish(succeeded(first))

        assert len(await scene.claim()) == 1
        assert await scene.storage.admission.admit(100, at=scene.now) == 0

    @pytest.mark.proves("L10")
    async def test_a_pruned_limit_has_its_capacity_again_for_the_next_run(self, scene: Scene) -> None:
        await scene.create(*some_runs(4, max_concurrent=3, due_at=scene.after(MINUTE)))
        await scene.prune(retention())
        scene.clock.advance(MINUTE)

        await scene.release()

        assert len(await scene.claim()) == 3

    async def test_repeated_admission_admits_no_run_twice(self, scene: Scene) -> None:
        await scene.create(*some_runs(4, max_concurrent=2))
        await scene.claim(1)
        before = await scene.ready()

        assert await scene.storage.admission.admit(100, at=scene.now) == 0
        assert await scene.ready() == before
        assert len(await scene.claim()) == 1
