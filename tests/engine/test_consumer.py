"""Claims runs up to its free slots and carries them out."""

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from foliot.adapters.queue.memory import MemoryQueue
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import MINUTE, SECOND, Millis, later
from foliot.domain.job import JobSpec, Options
from foliot.domain.outcome import Failure, Reason, Success
from foliot.domain.retry import Retry
from foliot.domain.run import Status
from foliot.engine.loop import AT_ONCE
from foliot.ports.runner import Attempt
from foliot.ports.storage import Storage
from foliot.testing.clock import START, VirtualClock
from tests.engine.conftest import Another
from tests.engine.ease import ease
from tests.engine.rig import Rig

BROKEN = Failure("exit code 1", Reason.EXIT_CODE, exit_code=1)


# -- what becomes of a run


@pytest.mark.proves("R1-01", "R1-30", "R1-18", "R1-52")
async def test_a_good_end_is_recorded_with_its_output(rig: Rig) -> None:
    rig.stage.answer = Success(b'{"rows":7}', exit_code=0)
    run_id = await rig.enqueue()

    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.output, run.exit_code, run.attempt) == (Status.SUCCESS, {"rows": 7}, 0, 1)


@pytest.mark.proves("R1-39")
async def test_a_run_for_now_needs_no_other_duty(rig: Rig) -> None:
    run_id = await rig.enqueue()

    await rig.claim()

    assert [attempt.run_id for attempt in rig.stage.attempts] == [run_id]


@pytest.mark.proves("R1-48", "R1-19", "R1-50")
async def test_an_attempt_is_told_what_was_stored(rig: Rig) -> None:
    await rig.job(spec={"command": "true"})
    payload = {"text": "ünï", "list": [1, 2.5, None], "nested": {"a": True}}
    run_id = await rig.enqueue(payload=msgspec.json.encode(payload))

    await rig.work()

    [attempt] = rig.stage.attempts
    assert (attempt.run_id, attempt.number, attempt.payload) == (run_id, 1, payload)
    assert attempt.spec == {"command": "true"}


@pytest.mark.proves("R1-31", "S3", "S9")
async def test_a_failed_attempt_is_tried_again_after_its_back_off(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=1, base=Millis(30 * SECOND)))
    rig.stage.answer = BROKEN
    run_id = await rig.enqueue()
    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.due_at) == (Status.SCHEDULED, later(START, 30 * SECOND))
    rig.clock.advance(30 * SECOND - 1)
    await rig.work_off(2)
    assert len(rig.stage.attempts) == 1
    rig.clock.advance(1)
    await rig.work_off(2)

    assert [attempt.number for attempt in rig.stage.attempts] == [1, 2]


@pytest.mark.proves("S9", "R1-31")
async def test_a_retry_that_waits_survives_a_restart(rig: Rig, another: Another, clock: VirtualClock) -> None:
    await rig.job(retry=Retry(retries=1, base=Millis(30 * SECOND)))
    rig.stage.answer = BROKEN
    run_id = await rig.enqueue()
    await rig.work()

    restarted = Rig(await another(), clock)
    clock.advance(30 * SECOND)
    await restarted.work_off(2)

    assert (await rig.run(run_id)).attempt == 2


@pytest.mark.proves("R1-33", "S3")
async def test_a_run_out_of_retries_has_failed_with_every_attempt_on_record(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=2, base=Millis(0)))
    rig.stage.answer = BROKEN
    run_id = await rig.enqueue()

    await rig.work_off()

    run = await rig.run(run_id)
    attempts = await rig.storage.runs.attempts(run_id)
    assert (run.status, run.reason, run.attempt) == (Status.FAILED, "exit_code", 3)
    assert [attempt.number for attempt in attempts] == [1, 2, 3]
    assert len({attempt.token for attempt in attempts}) == 3


@pytest.mark.proves("R1-32")
async def test_an_error_that_cannot_pass_ends_the_run_at_once(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=5))
    rig.stage.answer = Failure("no such table", Reason.PAYLOAD, retryable=False)
    run_id = await rig.enqueue()

    await rig.work()

    assert await rig.status(run_id) is Status.FAILED


async def test_what_a_runner_raises_is_a_failure_with_its_traceback(rig: Rig) -> None:
    rig.stage.answer = ZeroDivisionError("by nought")
    run_id = await rig.enqueue()

    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.reason) == (Status.FAILED, "exception")
    assert run.error is not None
    assert "Traceback" in run.error
    assert run.error.endswith("ZeroDivisionError: by nought")


@pytest.mark.parametrize("text", ["a lone \udcff surrogate", "a \x00 byte", "x" * 100_000, ""])
async def test_no_error_text_keeps_an_outcome_from_being_saved(rig: Rig, text: str) -> None:
    rig.stage.answer = RuntimeError(text)
    run_id = await rig.enqueue()

    await rig.work()

    assert await rig.status(run_id) is Status.FAILED
    assert rig.finisher.backlog == 0


async def test_one_outcome_that_cannot_be_saved_does_not_hold_up_the_others(rig: Rig) -> None:
    rig.stage.answer = None
    odd, plain = await rig.enqueue(), await rig.enqueue()
    await rig.claim()
    rig.stage.end(odd, Failure("\ud800 \x00", Reason.EXCEPTION))
    rig.stage.end(plain)
    await ease()

    await rig.save()

    assert [await rig.status(run_id) for run_id in (odd, plain)] == [Status.FAILED, Status.SUCCESS]


async def test_a_job_of_a_kind_nobody_runs_is_a_failure_that_says_so(rig: Rig) -> None:
    await rig.storage.jobs.put([(JobId("report"), JobSpec(kind="stagee"))])
    run_id = await rig.enqueue()

    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.reason) == (Status.FAILED, "handler_missing")
    assert run.error is not None
    assert '"stage"' in run.error


@pytest.mark.proves("R1-19")
async def test_a_change_of_the_job_is_seen_by_the_next_attempt(rig: Rig) -> None:
    await rig.job(spec={"command": "old"})
    await rig.enqueue()
    await rig.work()

    await rig.job(spec={"command": "new"})
    await rig.enqueue()
    await rig.work()

    assert [attempt.spec["command"] for attempt in rig.stage.attempts] == ["old", "new"]


async def test_options_given_for_one_run_lie_over_those_of_its_job(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=0))
    rig.stage.answer = BROKEN
    overrides = msgspec.json.encode({"retry": Retry(retries=1, base=Millis(0))})
    run_id = await rig.enqueue(overrides=overrides)

    await rig.work_off(3)

    assert (await rig.run(run_id)).attempt == 2


# -- ended from outside


@pytest.mark.proves("R1-34", "S5", "R1-25")
async def test_a_cancel_ends_the_attempt_and_the_run(rig: Rig) -> None:
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await rig.claim()

    await rig.storage.runs.cancel([run_id])
    assert await rig.status(run_id) is Status.CANCELLING
    assert rig.membership.wake.is_set()
    await rig.work()

    assert rig.stage.cancelled == [run_id]
    assert await rig.status(run_id) is Status.CANCELLED


@pytest.mark.proves("S5", "R1-34")
async def test_a_queued_run_that_is_cancelled_never_starts(rig: Rig) -> None:
    run_id = await rig.enqueue()
    await rig.storage.runs.cancel([run_id])

    await rig.work()

    assert rig.stage.attempts == []
    assert await rig.status(run_id) is Status.CANCELLED


@pytest.mark.proves("S9", "S5")
async def test_cancel_beats_retry(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=5, base=Millis(0)))
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await rig.claim()
    await rig.storage.runs.cancel([run_id])

    rig.stage.end(run_id, BROKEN)
    await ease()
    await rig.save()

    assert await rig.status(run_id) is Status.CANCELLED


@pytest.mark.proves("S7")
async def test_an_attempt_that_takes_too_long_is_ended_and_timed_out(rig: Rig) -> None:
    await rig.job(timeout=Millis(10 * SECOND))
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await rig.claim()
    rig.clock.advance(10 * SECOND - 1)
    await ease()
    assert rig.stage.under_way == [run_id]

    rig.clock.advance(1)
    await ease()
    await rig.save()

    run = await rig.run(run_id)
    assert (run.status, run.reason, run.error) == (Status.TIMEOUT, "timeout", "timeout after 10 s")
    assert rig.stage.cancelled == [run_id]


async def test_a_timeout_is_retried_like_any_failure(rig: Rig) -> None:
    await rig.job(timeout=Millis(SECOND), retry=Retry(retries=1, base=Millis(0)))
    rig.stage.answer = None
    run_id = await rig.enqueue()

    for _ in range(2):
        await rig.claim()
        rig.clock.advance(SECOND)
        await ease()
        await rig.save()

    run = await rig.run(run_id)
    assert (run.status, run.attempt) == (Status.TIMEOUT, 2)


class Stubborn:
    """A runner that takes its time to end what it started, and must not be disturbed in that."""

    abandoned = 0

    def __init__(self) -> None:
        self.is_clean = False
        self.cleaning = asyncio.Event()

    async def run(self, attempt: Attempt) -> Success | Failure:
        try:
            await asyncio.Event().wait()
        finally:
            await self.cleaning.wait()
            self.is_clean = True
        raise AssertionError


async def test_a_runner_that_cleans_up_is_cancelled_only_once(storage: Storage, clock: VirtualClock) -> None:
    runner = Stubborn()
    rig = Rig(storage, clock, runners={"stubborn": runner})
    await storage.jobs.put([(JobId("report"), JobSpec(kind="stubborn", options=Options(timeout=Millis(MINUTE))))])
    run_id = await rig.enqueue()
    await rig.claim()

    for _ in range(3):
        await storage.runs.cancel([run_id])
        await rig.membership.round()
        await ease()
    clock.advance(MINUTE)
    await ease()
    runner.cleaning.set()
    await ease()
    await rig.save()

    assert runner.is_clean
    assert await rig.status(run_id) is Status.CANCELLED


# -- slots


async def test_a_storage_elsewhere_is_asked_for_half_the_slots_and_at_once_for_the_other_half(
    storage: Storage, clock: VirtualClock
) -> None:
    storage.is_remote = True  # type: ignore[misc]  # the file plays a server
    rig = Rig(storage, clock, slots=5)
    rig.stage.answer = None
    runs = [await rig.enqueue() for _ in range(6)]
    await rig.membership.round()

    first = await rig.consumer.round()
    started = rig.consumer.unfinished
    second = await rig.consumer.round()
    await ease()

    assert (first, started) == (AT_ONCE, 3)
    assert second != AT_ONCE
    assert rig.stage.under_way == runs[:5]


async def test_half_of_one_slot_is_one(storage: Storage, clock: VirtualClock) -> None:
    storage.is_remote = True  # type: ignore[misc]  # the file plays a server
    rig = Rig(storage, clock, slots=1)
    run_id = await rig.enqueue()

    await rig.work()

    assert await rig.status(run_id) is Status.SUCCESS


async def test_no_more_is_claimed_than_there_are_free_slots(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, slots=2)
    rig.stage.answer = None
    runs = [await rig.enqueue() for _ in range(3)]

    await rig.claim()
    await rig.claim()
    assert rig.stage.under_way == runs[:2]
    rig.stage.end(runs[0])
    await ease()
    await rig.claim()

    assert rig.stage.under_way == runs[1:]


async def test_an_attempt_that_was_given_up_still_takes_its_slot(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, slots=2)
    rig.stage.abandoned = 2
    await rig.enqueue()

    await rig.claim()

    assert rig.stage.attempts == []


async def test_nothing_is_claimed_while_outcomes_pile_up(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, slots=1)
    for _ in range(4):
        await rig.enqueue()

    for _ in range(4):
        await rig.claim()
    assert rig.finisher.backlog == 2
    await rig.finisher.round()

    assert rig.consumer.wake.is_set()
    await rig.claim()
    assert len(rig.stage.attempts) == 3


@pytest.mark.proves("L10")
async def test_a_limit_holds_across_workers(rig: Rig, another: Another, clock: VirtualClock) -> None:
    await rig.job(max_concurrent=2)
    other = Rig(await another(), clock)
    rig.stage.answer = other.stage.answer = None
    for _ in range(5):
        await rig.enqueue()

    for _ in range(3):
        await rig.claim()
        await other.claim()

    assert len(rig.stage.under_way) + len(other.stage.under_way) == 2


@pytest.mark.proves("R1-05", "R1-29", "L1")
async def test_workers_share_what_there_is(rig: Rig, another: Another, clock: VirtualClock) -> None:
    other = Rig(await another(), clock)
    rig.stage.answer = other.stage.answer = None
    runs = {await rig.enqueue() for _ in range(15)}

    await asyncio.gather(rig.claim(), other.claim())

    assert set(rig.stage.under_way) | set(other.stage.under_way) == runs
    assert not set(rig.stage.under_way) & set(other.stage.under_way)


async def test_a_worker_that_is_not_registered_claims_nothing(rig: Rig) -> None:
    await rig.enqueue()

    await rig.consumer.round()

    assert rig.stage.attempts == []


# -- logs


@pytest.mark.proves("S10", "E4")
async def test_what_an_attempt_prints_is_saved_before_its_end_is(rig: Rig) -> None:
    written: list[Callable[[], None]] = []

    class Chatty:
        abandoned = 0

        async def run(self, attempt: Attempt) -> Success | Failure:
            attempt.log.write("stdout", b"hello\n")
            await attempt.log.drain()
            written.append(lambda: attempt.log.write("stdout", b"too late\n"))
            return Success()

    chatty = Rig(rig.storage, rig.clock, runners={"chatty": Chatty()})
    await rig.storage.jobs.put([(JobId("report"), JobSpec(kind="chatty"))])
    run_id = await chatty.enqueue()
    await chatty.claim()
    assert chatty.finisher.backlog == 0

    await chatty.work()
    written[0]()
    await chatty.save()

    chunks = await rig.storage.logs.read(run_id)
    assert [(chunk.stream, chunk.data) for chunk in chunks] == [
        ("stdout", b"hello\n"),
        ("meta", b"end of log: complete\n"),
    ]
    assert await rig.status(run_id) is Status.SUCCESS


# -- messages


@pytest.fixture
def queue() -> MemoryQueue:
    return MemoryQueue()


@pytest.fixture
def brokered(storage: Storage, clock: VirtualClock, queue: MemoryQueue) -> Rig:
    return Rig(storage, clock, queue=queue, slots=2)


@pytest.mark.proves("R1-35", "Q3", "R1-29")
async def test_a_message_delivered_twice_runs_its_run_once(brokered: Rig, queue: MemoryQueue) -> None:
    run_id = await brokered.enqueue()
    await queue.announce("default", [run_id, run_id])

    await brokered.work()
    await queue.announce("default", [run_id])
    await brokered.work()

    assert len(brokered.stage.attempts) == 1


@pytest.mark.proves("Q4", "R1-46", "R1-06")
async def test_messages_that_mean_nothing_cost_nothing(brokered: Rig, queue: MemoryQueue) -> None:
    run_id = await brokered.enqueue()
    later_on = await brokered.enqueue(delay=MINUTE)
    queue.deliver("default", b"garbage")
    queue.deliver("default", b'{"v":2,"run_id":"%s"}' % run_id.encode())
    await queue.announce("default", [RunId("0" * 26), later_on, run_id])

    await brokered.work()
    await brokered.work()

    assert [attempt.run_id for attempt in brokered.stage.attempts] == [run_id]


async def test_hints_that_lead_to_nothing_are_followed_by_the_next_at_once(brokered: Rig, queue: MemoryQueue) -> None:
    await brokered.membership.round()
    run_id = await brokered.enqueue()
    await queue.announce("default", [RunId("0" * 26)] * 3 + [run_id])

    assert await brokered.consumer.round() == AT_ONCE
    assert await brokered.consumer.round() == AT_ONCE
    assert await brokered.consumer.round() == SECOND
    await ease()

    assert len(brokered.stage.attempts) == 1


async def test_a_claim_whose_answer_got_lost_is_given_back(rig: Rig) -> None:
    run_id = await rig.enqueue()
    await rig.membership.round()
    worker = rig.membership.worker
    assert worker is not None
    await rig.storage.runs.claim(worker.id, worker.queues, 1)
    assert await rig.status(run_id) is Status.RUNNING

    await rig.membership.round()
    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.attempt) == (Status.SUCCESS, 1)


async def test_a_renewal_while_a_claim_is_under_way_takes_nothing_back(rig: Rig) -> None:
    run_id = await rig.enqueue()
    await rig.membership.round()
    async with rig.membership.claiming() as worker:
        assert worker is not None
        await rig.storage.runs.claim(worker.id, worker.queues, 1)

        rest = await rig.membership.round()

    assert rest == rig.settings.lease // 3
    assert await rig.status(run_id) is Status.RUNNING
