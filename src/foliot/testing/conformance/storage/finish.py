"""The promises of a storage about finished attempts."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from foliot.domain.events import EventKind
from foliot.domain.ids import Token
from foliot.domain.instant import HOUR, MINUTE, SECOND, later
from foliot.domain.run.lease import Claim, Finish
from foliot.domain.run.outcome import Cancelled, Failure, Outcome, Reason, Success, TimedOut
from foliot.domain.run.run import AttemptRecord, Status
from foliot.testing.builders import (
    a_claim,
    a_finish,
    a_run,
    a_run_id,
    failed,
    given_back,
    lost,
    some_runs,
    succeeded,
    to_retry,
)
from foliot.testing.conformance.storage.runs import OUT_OF_RANGE
from foliot.testing.conformance.storage.scene import Contract, Scene

Ending = Callable[[Claim], Finish]
EVERY_ENDING = pytest.mark.parametrize("ending", [succeeded, failed, to_retry, given_back])


class FinishContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_a_lost_run_is_due_at_once_after_the_clock_was_set_back(self, scene: Scene) -> None:
        claim = await scene.start()
        scene.clock.step(-HOUR)

        await scene.finish(lost(claim))

        assert (await scene.run(claim.run_id)).due_at == scene.now
        assert await scene.ready() == [claim.run_id]

    @pytest.mark.proves("R1-30", "S2", "S10")
    async def test_a_success_is_stored_with_its_output(self, scene: Scene) -> None:
        claim = await scene.start()
        scene.clock.advance(SECOND)

        stale = await scene.finish(succeeded(claim, output=b'{"rows":3}'))

        run = await scene.run(claim.run_id)
        assert stale == []
        assert (run.status, run.reason, run.error, run.exit_code) == (Status.SUCCESS, None, None, 0)
        assert (run.output, run.attempt) == ({"rows": 3}, 1)
        assert (run.started_at, run.finished_at) == (claim.started_at, scene.now)
        assert (run.worker_id, run.token) == (claim.worker_id, claim.token)

    @pytest.mark.proves("R1-32")
    async def test_a_failure_is_stored_with_its_reason(self, scene: Scene) -> None:
        claim = await scene.start()

        await scene.finish(failed(claim, "exit code 1"))

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason) == (Status.FAILED, Reason.EXIT_CODE)
        assert (run.error, run.exit_code, run.output) == ("exit code 1", 1, None)

    @pytest.mark.parametrize(
        ("outcome", "status", "reason"),
        [
            (TimedOut("too slow"), Status.TIMEOUT, Reason.TIMEOUT),
            (Cancelled(), Status.CANCELLED, Reason.CANCELLED),
        ],
    )
    async def test_every_other_outcome_is_stored(
        self, scene: Scene, outcome: Outcome, status: Status, reason: Reason
    ) -> None:
        claim = await scene.start(a_run(overrides=None))

        await scene.finish(a_finish(claim, outcome))

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason) == (status, reason)

    @pytest.mark.proves("R1-31", "S9")
    async def test_a_run_to_retry_is_scheduled_for_its_retry_time(self, scene: Scene) -> None:
        claim = await scene.start(a_run(retry_delay=5 * SECOND))
        due_at = scene.after(5 * SECOND)

        await scene.finish(to_retry(claim, "try again"))

        run = await scene.run(claim.run_id)
        assert (run.status, run.due_at, run.attempt, run.lost) == (Status.SCHEDULED, due_at, 1, 0)
        assert (run.error, run.finished_at) == ("try again", None)
        assert await scene.claim() == []
        assert (await scene.release()).next_due_at == due_at

    @pytest.mark.proves("R1-31", "R1-45", "S3", "S9")
    async def test_a_retry_starts_when_it_is_due(self, scene: Scene) -> None:
        first = await scene.start(a_run(retry_delay=SECOND))
        await scene.finish(to_retry(first))
        scene.clock.advance(SECOND)
        await scene.release()

        [second] = await scene.claim()

        assert (second.run_id, second.attempt, second.lost) == (first.run_id, 2, 0)
        assert second.due_at == scene.now

    async def test_a_retry_without_delay_is_queued_immediately(self, scene: Scene) -> None:
        claim = await scene.start()

        await scene.finish(to_retry(claim))

        assert await scene.status(claim.run_id) is Status.QUEUED

    @pytest.mark.proves("S3")
    async def test_a_lost_attempt_is_counted_as_lost(self, scene: Scene) -> None:
        first = await scene.start()
        await scene.finish(lost(first))
        [second] = await scene.claim()
        await scene.finish(to_retry(second))

        [third] = await scene.claim()

        assert [(claim.attempt, claim.lost) for claim in (first, second, third)] == [(1, 0), (2, 1), (3, 1)]
        assert (await scene.run(first.run_id)).lost == 1

    @pytest.mark.proves("S3")
    async def test_the_lost_attempt_that_ends_a_run_is_counted_as_lost(self, scene: Scene) -> None:
        first = await scene.start(a_run(overrides=b'{"max_lost":1}'))
        await scene.finish(lost(first))
        [second] = await scene.claim()

        await scene.finish(lost(second))

        run = await scene.run(first.run_id)
        assert (run.status, run.reason, run.attempt, run.lost) == (Status.FAILED, Reason.LEASE_LOST, 2, 2)

    @pytest.mark.proves("S3")
    async def test_an_attempt_that_is_lost_while_its_run_is_cancelled_is_counted_as_lost(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        await scene.finish(lost(claim))

        run = await scene.run(claim.run_id)
        assert (run.status, run.lost) == (Status.CANCELLED, 1)

    @pytest.mark.proves("S3")
    async def test_an_attempt_given_back_is_not_counted(self, scene: Scene) -> None:
        first = await scene.start()

        await scene.finish(given_back(first))

        run = await scene.run(first.run_id)
        assert (run.status, run.attempt, run.lost, run.due_at) == (Status.QUEUED, 0, 0, first.due_at)
        assert (run.worker_id, run.token, run.started_at) == (None, None, None)
        assert await scene.storage.queries.attempts(first.run_id) == []
        [second] = await scene.claim()
        assert second.attempt == 1

    async def test_a_run_given_back_keeps_its_rank(self, scene: Scene) -> None:
        first = await scene.start()
        scene.clock.advance(SECOND)
        [younger] = await scene.create(a_run(due_at=scene.now))

        await scene.finish(given_back(first))

        assert await scene.ready() == [first.run_id, younger]

    @pytest.mark.proves("L2")
    @EVERY_ENDING
    async def test_a_token_that_was_never_granted_is_stale(self, scene: Scene, ending: Ending) -> None:
        claim = await scene.start()
        forged = replace(claim, token=Token(claim.token + 1_000))

        assert await scene.finish(ending(forged)) == [forged.token]
        assert await scene.status(claim.run_id) is Status.RUNNING

    @pytest.mark.proves("L2")
    @EVERY_ENDING
    async def test_a_current_token_of_another_run_is_stale(self, scene: Scene, ending: Ending) -> None:
        mine, other = await scene.start(), await scene.start()
        forged = replace(mine, token=other.token)

        assert await scene.finish(ending(forged)) == [forged.token]
        assert await scene.statuses(mine.run_id, other.run_id) == [Status.RUNNING, Status.RUNNING]

    @pytest.mark.proves("L2")
    @EVERY_ENDING
    async def test_a_current_token_used_by_another_worker_is_stale(self, scene: Scene, ending: Ending) -> None:
        claim = await scene.start()
        forged = replace(claim, worker_id=(await scene.worker()).id)

        assert await scene.finish(ending(forged)) == [forged.token]
        assert await scene.status(claim.run_id) is Status.RUNNING

    async def test_the_token_of_a_missing_run_is_stale(self, scene: Scene) -> None:
        claim = a_claim()

        assert await scene.finish(succeeded(claim)) == [claim.token]
        assert await scene.storage.queries.get_runs([claim.run_id]) == {}

    @pytest.mark.proves("L2", "S10")
    async def test_the_former_holder_of_a_lease_changes_nothing(self, scene: Scene) -> None:
        former = await scene.start()
        await scene.finish(given_back(former))
        [current] = await scene.claim()

        assert await scene.finish(failed(former)) == [former.token]
        assert await scene.status(former.run_id) is Status.RUNNING
        assert await scene.finish(succeeded(current)) == []
        assert await scene.status(former.run_id) is Status.SUCCESS

    @pytest.mark.proves("M4", "R1-35")
    async def test_a_finish_that_was_saved_before_is_accepted_and_changes_nothing(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(claim, output=b"1"))
        before = await scene.run(claim.run_id)
        scene.clock.advance(SECOND)

        assert await scene.finish(succeeded(claim, output=b"2")) == []
        assert await scene.run(claim.run_id) == before

    @pytest.mark.proves("M4", "S3")
    async def test_a_retry_that_was_saved_before_is_accepted_and_changes_nothing(self, scene: Scene) -> None:
        first = await scene.start()
        await scene.finish(to_retry(first))
        [second] = await scene.claim()

        assert await scene.finish(to_retry(first, "another error")) == []

        run = await scene.run(first.run_id)
        assert (run.status, run.token, run.attempt) == (Status.RUNNING, second.token, 2)
        assert len(await scene.storage.queries.attempts(first.run_id)) == 1

    @pytest.mark.proves("M4")
    async def test_a_retry_saved_before_is_accepted_after_the_run_is_over(self, scene: Scene) -> None:
        first = await scene.start()
        await scene.finish(to_retry(first))
        [second] = await scene.claim()
        await scene.finish(succeeded(second))

        assert await scene.finish(to_retry(first)) == []
        assert await scene.status(first.run_id) is Status.SUCCESS

    @pytest.mark.proves("S3", "S4")
    @pytest.mark.parametrize("ending", [succeeded, failed, to_retry])
    async def test_an_outcome_that_is_twice_in_one_batch_is_saved_once(self, scene: Scene, ending: Ending) -> None:
        claim = await scene.start()

        assert await scene.finish(ending(claim), ending(claim)) == []

        assert len(await scene.items(EventKind.RUNS_ENDED)) == 1
        assert len(await scene.storage.queries.attempts(claim.run_id)) == 1

    async def test_a_batch_returns_only_its_stale_tokens(self, scene: Scene) -> None:
        await scene.create(*some_runs(4, retry_delay=SECOND))
        one, two, three, four = await scene.claim()
        stale = replace(two, token=Token(two.token + 1_000))

        told = await scene.finish(succeeded(one), succeeded(stale), to_retry(three), given_back(four))

        assert told == [stale.token]
        expected = [Status.SUCCESS, Status.RUNNING, Status.SCHEDULED, Status.QUEUED]
        assert await scene.statuses(one.run_id, two.run_id, three.run_id, four.run_id) == expected

    async def test_finishing_an_empty_batch_is_a_no_op(self, scene: Scene) -> None:
        assert await scene.finish() == []

    async def test_an_error_that_is_not_valid_text_is_escaped(self, scene: Scene) -> None:
        claim = await scene.start()

        assert await scene.finish(failed(claim, "\ud800\0")) == []

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason, run.error) == (Status.FAILED, Reason.EXIT_CODE, r"\ud800\0")

    async def test_an_error_that_is_not_valid_text_is_escaped_before_a_retry(self, scene: Scene) -> None:
        claim = await scene.start(a_run(retry_delay=SECOND))

        assert await scene.finish(to_retry(claim, "\ud800\0")) == []

        [record] = await scene.storage.queries.attempts(claim.run_id)
        run = await scene.run(claim.run_id)
        assert (run.status, run.error, record.error) == (Status.SCHEDULED, r"\ud800\0", r"\ud800\0")

    @pytest.mark.parametrize(
        "outcome",
        [
            Success(exit_code=OUT_OF_RANGE),
            Failure("bad", Reason.EXIT_CODE, OUT_OF_RANGE, retryable=False),
            Failure("bad", Reason.EXIT_CODE, OUT_OF_RANGE),
        ],
    )
    async def test_an_unstorable_outcome_fails_its_run_and_not_its_batch(self, scene: Scene, outcome: Outcome) -> None:
        await scene.create(*some_runs(3, retry_delay=SECOND))
        one, bad, three = await scene.claim()

        assert await scene.finish(succeeded(one), a_finish(bad, outcome), to_retry(three)) == []

        run = await scene.run(bad.run_id)
        assert (run.status, run.reason, run.exit_code) == (Status.FAILED, Reason.OUTPUT, None)
        assert run.error
        assert await scene.statuses(one.run_id, three.run_id) == [Status.SUCCESS, Status.SCHEDULED]

    @pytest.mark.proves("L2", "M4")
    async def test_an_unstorable_outcome_is_accepted_again_and_refused_if_stale(self, scene: Scene) -> None:
        claim = await scene.start()
        bad = a_finish(claim, Failure("bad", Reason.EXIT_CODE, OUT_OF_RANGE, retryable=False))
        forged = replace(bad, token=Token(claim.token + 1_000))

        assert await scene.finish(forged) == [forged.token]
        assert await scene.finish(bad) == []
        assert await scene.finish(bad) == []

    @pytest.mark.proves("S2")
    async def test_a_clock_set_back_makes_no_attempt_end_before_its_start(self, scene: Scene) -> None:
        await scene.create(*some_runs(4, retry_delay=SECOND))
        good, bad, again, unstarted = await scene.claim()
        began = scene.now
        scene.clock.step(-HOUR)

        await scene.finish(succeeded(good), failed(bad), to_retry(again), given_back(unstarted))
        await scene.cancel(unstarted.run_id)

        [record] = await scene.storage.queries.attempts(again.run_id)
        ended = [await scene.run(run_id) for run_id in (good.run_id, bad.run_id, unstarted.run_id)]
        assert [run.finished_at for run in ended] == [began] * 3
        assert (record.started_at, record.finished_at) == (began, began)
        assert (await scene.run(again.run_id)).due_at == later(scene.now, SECOND)

    @pytest.mark.proves("S2")
    async def test_a_clock_set_back_makes_no_run_start_before_its_creation(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run())
        created_at = scene.now
        scene.clock.step(-HOUR)

        [claim] = await scene.claim()
        await scene.finish(succeeded(claim))

        run = await scene.run(run_id)
        assert (claim.started_at, run.started_at, run.finished_at) == (created_at, created_at, created_at)

    @pytest.mark.proves("S3", "S10")
    async def test_finished_attempts_are_recorded_in_order(self, scene: Scene) -> None:
        first = await scene.start()
        scene.clock.advance(SECOND)
        first_end = scene.now
        await scene.finish(to_retry(first, error="first"))
        second_worker = await scene.worker()
        [second] = await scene.claim(worker=second_worker)
        scene.clock.advance(SECOND)
        await scene.finish(failed(second, "second"))

        records = await scene.storage.queries.attempts(first.run_id)

        assert records == [
            AttemptRecord(
                first.run_id,
                number,
                claim.token,
                claim.worker_id,
                claim.started_at,
                finished_at,
                Status.FAILED,
                Reason.EXIT_CODE,
                1,
                error,
            )
            for number, claim, finished_at, error in ((1, first, first_end, "first"), (2, second, scene.now, "second"))
        ]

    @pytest.mark.proves("S3")
    async def test_a_running_attempt_is_not_recorded(self, scene: Scene) -> None:
        first = await scene.start()
        assert await scene.storage.queries.attempts(first.run_id) == []
        await scene.finish(to_retry(first))
        await scene.claim()

        assert [record.number for record in await scene.storage.queries.attempts(first.run_id)] == [1]

    @pytest.mark.proves("S3")
    async def test_a_run_cancelled_between_two_attempts_has_one_recorded_attempt(self, scene: Scene) -> None:
        claim = await scene.start(a_run(retry_delay=MINUTE))
        await scene.finish(to_retry(claim))
        await scene.cancel(claim.run_id)

        [record] = await scene.storage.queries.attempts(claim.run_id)

        assert (record.number, record.status, record.token) == (1, Status.FAILED, claim.token)
        assert (await scene.run(claim.run_id)).attempt == 1

    async def test_a_run_that_never_started_has_no_attempts(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run())
        await scene.cancel(run_id)

        assert await scene.storage.queries.attempts(run_id) == []
        assert await scene.storage.queries.attempts(a_run_id()) == []

    @pytest.mark.proves("S10")
    async def test_a_retried_run_has_the_result_of_its_last_attempt(self, scene: Scene) -> None:
        first = await scene.start()
        await scene.finish(to_retry(first, error="first"))
        [second] = await scene.claim()
        await scene.finish(succeeded(second))

        run = await scene.run(first.run_id)

        assert (run.status, run.attempt, run.token) == (Status.SUCCESS, 2, second.token)
        assert (run.error, run.reason, run.exit_code) == (None, None, 0)
