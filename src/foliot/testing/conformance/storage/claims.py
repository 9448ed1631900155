"""The promises of a storage about claims."""

import pytest

from foliot.domain.ids import WorkerId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.job.definition import job_definition_id
from foliot.domain.run.lease import Claim
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.testing.builders import LEASE, REPORT, a_run, a_run_id, an_id, given_back, some_runs, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Contract, Scene


class ClaimContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R1-48", "S3")
    async def test_a_claim_has_everything_needed_to_execute_the_run(self, scene: Scene) -> None:
        job = await scene.job()
        worker = await scene.standby()
        new = a_run(payload=b'{"a": 1}', overrides=b'{"priority":3}', priority=3, max_concurrent=2)
        await scene.create(new)
        scene.clock.advance(SECOND)

        [claim] = await scene.claim()

        assert claim == Claim(
            run_id=new.id,
            token=claim.token,
            worker_id=worker.id,
            job_id=REPORT,
            definition_id=job_definition_id(REPORT, job.revision),
            attempt=1,
            lost=0,
            queue="default",
            priority=3,
            due_at=new.due_at,
            started_at=scene.now,
            payload=b'{"a": 1}',
            overrides=b'{"priority":3}',
            limit_keys=("job:report",),
            tick=None,
        )

    async def test_the_definition_of_a_missing_job_has_an_error(self, scene: Scene) -> None:
        await scene.create(a_run())

        claimed = await scene.storage.work.claim((await scene.standby()).id, ["default"], 1, at=scene.now)

        [definition] = claimed.definitions.values()
        assert definition.id == claimed.claims[0].definition_id
        assert (definition.error, definition.reason) == ('job "report" has been deleted', Reason.HANDLER_MISSING)

    @pytest.mark.proves("R1-29")
    async def test_a_claimed_run_is_running_and_has_its_worker(self, scene: Scene) -> None:
        claim = await scene.start()

        run = await scene.run(claim.run_id)

        assert run.status is Status.RUNNING
        assert (run.worker_id, run.token, run.attempt) == (claim.worker_id, claim.token, 1)
        assert (run.started_at, run.finished_at) == (scene.now, None)

    @pytest.mark.proves("L1", "R1-29", "R1-35")
    async def test_a_run_is_claimed_once(self, scene: Scene) -> None:
        claim = await scene.start()
        second = await scene.worker("second")

        assert await scene.claim() == []
        assert await scene.claim(worker=second, only=[claim.run_id]) == []
        assert await scene.ready() == []

    async def test_runs_are_claimed_in_rank_order_up_to_the_limit(self, scene: Scene) -> None:
        now = scene.now
        runs = [a_run(due_at=now), a_run(due_at=now, priority=2), a_run(due_at=now - SECOND), a_run(due_at=now)]
        await scene.create(*runs)

        first, second = await scene.claim(3), await scene.claim(3)

        assert [claim.run_id for claim in first] == [runs[1].id, runs[2].id, runs[0].id]
        assert [claim.run_id for claim in second] == [runs[3].id]

    async def test_priority_shifts_the_rank_and_old_runs_still_start(self, scene: Scene) -> None:
        [patient] = await scene.create(a_run(due_at=scene.now))
        scene.clock.advance(5 * MINUTE)
        [urgent] = await scene.create(a_run(due_at=scene.now, priority=4))

        assert [claim.run_id for claim in await scene.claim()] == [patient, urgent]

    async def test_a_worker_claims_only_from_its_queues(self, scene: Scene) -> None:
        fast, slow, other = await scene.create(*(a_run(queue=name) for name in ("fast", "slow", "other")))

        claims = await scene.claim(queues=["slow", "fast"])

        assert {claim.run_id for claim in claims} == {fast, slow}
        assert [claim.queue for claim in claims if claim.run_id == fast] == ["fast"]
        assert await scene.status(other) is Status.QUEUED

    async def test_rank_order_goes_across_queues(self, scene: Scene) -> None:
        now = scene.now
        late, early = a_run(queue="a", due_at=now), a_run(queue="b", due_at=now - SECOND)
        await scene.create(late, early)

        assert [claim.run_id for claim in await scene.claim(1, queues=["a", "b"])] == [early.id]

    async def test_a_claim_with_only_claims_no_other_run(self, scene: Scene) -> None:
        first, second, later = await scene.create(a_run(), a_run(), a_run(due_at=scene.after(MINUTE)))

        claims = await scene.claim(only=[second, later, a_run_id()])

        assert [claim.run_id for claim in claims] == [second]
        assert await scene.claim(only=[]) == []
        assert await scene.ready() == [first]

    async def test_a_claim_with_only_respects_queue_and_limit(self, scene: Scene) -> None:
        first, second, foreign = await scene.create(a_run(), a_run(), a_run(queue="other"))

        claims = await scene.claim(1, only=[foreign, second, first])

        assert [claim.run_id for claim in claims] == [first]

    async def test_a_claim_with_a_limit_of_zero_claims_nothing(self, scene: Scene) -> None:
        await scene.create(a_run())

        assert await scene.claim(0) == []
        assert await scene.claim(queues=[]) == []

    @pytest.mark.proves("L2")
    async def test_tokens_rise_with_every_grant(self, scene: Scene) -> None:
        await scene.create(*some_runs(3))
        tokens = [claim.token for limit in (2, 1) for claim in await scene.claim(limit)]

        assert len(set(tokens)) == 3
        assert max(tokens[:2]) < tokens[2]

    @pytest.mark.proves("L2")
    async def test_a_run_that_is_claimed_again_gets_a_higher_token(self, scene: Scene) -> None:
        first = await scene.start()
        await scene.finish(given_back(first))

        [second] = await scene.claim()

        assert second.token > first.token

    @pytest.mark.proves("S3")
    async def test_attempts_count_from_one_and_rise_by_one(self, scene: Scene) -> None:
        first = await scene.start()
        await scene.finish(to_retry(first))
        [second] = await scene.claim()
        await scene.finish(to_retry(second))

        [third] = await scene.claim()

        assert [first.attempt, second.attempt, third.attempt] == [1, 2, 3]

    async def test_an_unregistered_worker_claims_nothing(self, scene: Scene) -> None:
        await scene.create(a_run())

        claimed = await scene.storage.work.claim(WorkerId(an_id()), ["default"], 10, at=scene.now)

        assert claimed == ([], {})
        assert len(await scene.ready()) == 1

    @pytest.mark.proves("R1-20")
    async def test_an_expired_worker_claims_nothing(self, scene: Scene) -> None:
        worker = await scene.worker()
        scene.clock.advance(LEASE + 1)
        await scene.create(a_run())

        assert await scene.claim(worker=worker) == []
        assert len(await scene.ready()) == 1

    @pytest.mark.proves("R1-35", "S1")
    async def test_an_ended_run_is_never_claimed_again(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(claim))

        assert await scene.claim(only=[claim.run_id]) == []
        assert await scene.release() == (0, None)
