"""The promises of a storage about cancelling runs."""

from collections.abc import Callable

import pytest

from foliot.domain.events import EventKind
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.run.lease import CancelAnswer, Claim, Finish
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.testing.builders import a_run, a_run_id, cancelled, failed, given_back, lost, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Contract, Scene


class CancelContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R1-34", "S5")
    async def test_a_scheduled_run_is_cancelled_immediately(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(due_at=scene.after(MINUTE)))

        assert await scene.cancel(run_id) == [CancelAnswer.CANCELLED]

        run = await scene.run(run_id)
        assert (run.status, run.reason, run.finished_at) == (Status.CANCELLED, Reason.CANCELLED, scene.now)
        scene.clock.advance(MINUTE)
        assert await scene.release() == (0, None)

    @pytest.mark.proves("R1-34", "S5")
    async def test_a_queued_run_is_cancelled_immediately_and_never_starts(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run())

        assert await scene.cancel(run_id) == [CancelAnswer.CANCELLED]

        assert await scene.status(run_id) is Status.CANCELLED
        assert await scene.ready() == []
        assert await scene.claim(only=[run_id]) == []

    @pytest.mark.proves("R1-34", "S5")
    async def test_a_run_that_waits_for_a_limit_is_cancelled_immediately(self, scene: Scene) -> None:
        running = await scene.start(a_run(max_concurrent=1))
        [waiting] = await scene.create(a_run(max_concurrent=1))

        assert await scene.cancel(waiting) == [CancelAnswer.CANCELLED]

        await scene.finish(succeeded(running))
        assert await scene.claim() == []

    @pytest.mark.proves("R1-34", "S5")
    async def test_cancelling_a_running_run_requests_its_end(self, scene: Scene) -> None:
        claim = await scene.start()

        assert await scene.cancel(claim.run_id) == [CancelAnswer.REQUESTED]

        run = await scene.run(claim.run_id)
        assert (run.status, run.finished_at) == (Status.CANCELLING, None)
        assert (run.worker_id, run.token, run.attempt) == (claim.worker_id, claim.token, 1)

    async def test_requesting_cancellation_twice_is_a_no_op(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        assert await scene.cancel(claim.run_id) == [CancelAnswer.PENDING]

    @pytest.mark.proves("S1", "S5")
    async def test_cancelling_an_ended_run_changes_nothing(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(claim))
        before = await scene.run(claim.run_id)
        scene.clock.advance(SECOND)

        assert await scene.cancel(claim.run_id) == [CancelAnswer.TERMINAL]
        assert await scene.run(claim.run_id) == before

    async def test_cancelling_a_cancelled_run_changes_nothing(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run())
        await scene.cancel(run_id)

        assert await scene.cancel(run_id) == [CancelAnswer.TERMINAL]

    async def test_cancelling_a_batch_returns_an_answer_for_each_run(self, scene: Scene) -> None:
        running = await scene.start()
        done = await scene.start()
        await scene.finish(failed(done))
        [queued] = await scene.create(a_run())

        answers = await scene.cancel(queued, running.run_id, done.run_id, a_run_id())

        assert answers == [
            CancelAnswer.CANCELLED,
            CancelAnswer.REQUESTED,
            CancelAnswer.TERMINAL,
            CancelAnswer.NOT_FOUND,
        ]

    @pytest.mark.proves("S9")
    async def test_a_requested_cancellation_prevents_the_retry(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        assert await scene.finish(to_retry(claim, error="killed")) == []

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason, run.error) == (Status.CANCELLED, Reason.CANCELLED, "killed")
        assert (run.attempt, run.finished_at) == (1, scene.now)
        assert await scene.claim() == []

    @pytest.mark.proves("S9")
    async def test_a_requested_cancellation_prevents_the_retry_of_a_lost_attempt(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        await scene.finish(lost(claim))

        assert await scene.status(claim.run_id) is Status.CANCELLED

    async def test_a_requested_cancellation_ends_a_run_that_is_given_back(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        await scene.finish(given_back(claim))

        assert await scene.status(claim.run_id) is Status.CANCELLED
        assert await scene.claim() == []

    @pytest.mark.proves("M4", "S4")
    @pytest.mark.parametrize("ending", [to_retry, lost, given_back])
    async def test_a_finish_changed_by_a_cancellation_is_accepted_again(
        self, scene: Scene, ending: Callable[[Claim], Finish]
    ) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)
        await scene.finish(ending(claim))
        before = await scene.run(claim.run_id)
        scene.clock.advance(SECOND)

        assert await scene.finish(ending(claim)) == []
        assert await scene.run(claim.run_id) == before
        assert len(await scene.items(EventKind.RUNS_ENDED)) == 1

    @pytest.mark.proves("S5")
    async def test_an_attempt_that_ended_before_the_cancellation_keeps_its_outcome(self, scene: Scene) -> None:
        done, broken = await scene.start(), await scene.start()
        await scene.cancel(done.run_id, broken.run_id)

        await scene.finish(succeeded(done), failed(broken))

        assert await scene.statuses(done.run_id, broken.run_id) == [Status.SUCCESS, Status.FAILED]

    @pytest.mark.proves("R1-34")
    async def test_a_cancelled_outcome_ends_the_run_as_cancelled(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        await scene.finish(cancelled(claim))

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason) == (Status.CANCELLED, Reason.CANCELLED)
        assert [record.status for record in await scene.storage.queries.attempts(claim.run_id)] == [Status.CANCELLED]

    @pytest.mark.proves("S9")
    async def test_a_pending_retry_is_cancelled_immediately(self, scene: Scene) -> None:
        claim = await scene.start(a_run(retry_delay=MINUTE))
        await scene.finish(to_retry(claim))

        assert await scene.cancel(claim.run_id) == [CancelAnswer.CANCELLED]
        scene.clock.advance(MINUTE)
        assert await scene.release() == (0, None)

    async def test_a_cancellation_does_not_affect_the_lease_of_another_run(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)
        await scene.finish(cancelled(claim))

        fresh = await scene.start()

        assert await scene.status(fresh.run_id) is Status.RUNNING
