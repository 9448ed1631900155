"""Ending a run that is not over: what a storage promises about cancel."""

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
    """Every storage passes these, unchanged."""

    @pytest.mark.proves("R1-34", "S5")
    async def test_a_scheduled_run_is_cancelled_at_once(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(due_at=scene.after(MINUTE)))

        assert await scene.cancel(run_id) == [CancelAnswer.CANCELLED]

        run = await scene.run(run_id)
        assert (run.status, run.reason, run.finished_at) == (Status.CANCELLED, Reason.CANCELLED, scene.now)
        scene.clock.advance(MINUTE)
        assert await scene.release() == (0, None)

    @pytest.mark.proves("R1-34", "S5")
    async def test_a_queued_run_is_cancelled_at_once_and_never_starts(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run())

        assert await scene.cancel(run_id) == [CancelAnswer.CANCELLED]

        assert await scene.status(run_id) is Status.CANCELLED
        assert await scene.ready() == []
        assert await scene.claim(only=[run_id]) == []

    @pytest.mark.proves("R1-34", "S5")
    async def test_a_run_that_waits_for_a_limit_is_cancelled_at_once(self, scene: Scene) -> None:
        running = await scene.start(a_run(max_concurrent=1))
        [waiting] = await scene.create(a_run(max_concurrent=1))

        assert await scene.cancel(waiting) == [CancelAnswer.CANCELLED]

        await scene.finish(succeeded(running))
        assert await scene.claim() == []

    @pytest.mark.proves("R1-34", "S5")
    async def test_a_running_run_is_asked_to_end(self, scene: Scene) -> None:
        claim = await scene.start()

        assert await scene.cancel(claim.run_id) == [CancelAnswer.REQUESTED]

        run = await scene.run(claim.run_id)
        assert (run.status, run.finished_at) == (Status.CANCELLING, None)
        assert (run.worker_id, run.token, run.attempt) == (claim.worker_id, claim.token, 1)

    async def test_asking_twice_is_asking_once(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        assert await scene.cancel(claim.run_id) == [CancelAnswer.PENDING]

    @pytest.mark.proves("S1", "S5")
    async def test_a_run_that_is_over_stays_as_it_is(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(claim))
        before = await scene.run(claim.run_id)
        scene.clock.advance(SECOND)

        assert await scene.cancel(claim.run_id) == [CancelAnswer.TERMINAL]
        assert await scene.run(claim.run_id) == before

    async def test_a_cancelled_run_is_over(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run())
        await scene.cancel(run_id)

        assert await scene.cancel(run_id) == [CancelAnswer.TERMINAL]

    async def test_a_batch_is_answered_run_by_run(self, scene: Scene) -> None:
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
    async def test_cancel_beats_retry(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        assert await scene.finish(to_retry(claim, error="killed")) == []

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason, run.error) == (Status.CANCELLED, Reason.CANCELLED, "killed")
        assert (run.attempt, run.finished_at) == (1, scene.now)
        assert await scene.claim() == []

    @pytest.mark.proves("S9")
    async def test_cancel_beats_the_retry_of_a_lost_attempt(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        await scene.finish(lost(claim))

        assert await scene.status(claim.run_id) is Status.CANCELLED

    async def test_cancel_beats_giving_back(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        await scene.finish(given_back(claim))

        assert await scene.status(claim.run_id) is Status.CANCELLED
        assert await scene.claim() == []

    @pytest.mark.proves("M4", "S4")
    @pytest.mark.parametrize("ending", [to_retry, lost, given_back])
    async def test_what_a_cancel_has_made_of_an_outcome_is_accepted_again(
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
    async def test_an_attempt_that_ended_before_the_cancel_reached_it_counts(self, scene: Scene) -> None:
        done, broken = await scene.start(), await scene.start()
        await scene.cancel(done.run_id, broken.run_id)

        await scene.finish(succeeded(done), failed(broken))

        assert await scene.statuses(done.run_id, broken.run_id) == [Status.SUCCESS, Status.FAILED]

    @pytest.mark.proves("R1-34")
    async def test_a_worker_that_heeds_the_cancel_ends_the_run_as_cancelled(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        await scene.finish(cancelled(claim))

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason) == (Status.CANCELLED, Reason.CANCELLED)
        assert [record.status for record in await scene.storage.queries.attempts(claim.run_id)] == [Status.CANCELLED]

    @pytest.mark.proves("S9")
    async def test_a_pending_retry_is_cancelled_at_once(self, scene: Scene) -> None:
        claim = await scene.start(a_run(retry_delay=MINUTE))
        await scene.finish(to_retry(claim))

        assert await scene.cancel(claim.run_id) == [CancelAnswer.CANCELLED]
        scene.clock.advance(MINUTE)
        assert await scene.release() == (0, None)

    async def test_a_cancel_says_nothing_about_the_next_lease_of_another_run(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)
        await scene.finish(cancelled(claim))

        fresh = await scene.start()

        assert await scene.status(fresh.run_id) is Status.RUNNING
