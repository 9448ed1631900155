"""The consumer claims at most its free slots, with and without a broker."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from foliot.adapters.queue.memory import MemoryQueue
from foliot.domain.ids import RunId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.run.run import Status
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.worker import consumer
from foliot.ports.storage import Storage
from foliot.ports.work import Exchanged
from foliot.testing.builders import a_claim, succeeded
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Another
from foliot.testing.simulation.faults import Faults, Hiccup
from tests.engine.ease import ease
from tests.engine.rig import LEASE, Rig

# -- slots


async def test_a_remote_storage_is_claimed_from_in_two_halves(
    storage: Storage, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer, "FULL_CALL", 1)
    storage.work.is_remote = True  # type: ignore[misc]  # the file plays a server
    rig = Rig(storage, clock, slots=5)
    rig.stage.answer = None
    runs = [await rig.enqueue() for _ in range(6)]
    await rig.heartbeat.round()

    first = await rig.consumer.round()
    started = rig.consumer.running_count
    second = await rig.consumer.round()
    await ease()

    assert (first, started) == (IMMEDIATELY, 3)
    assert second != IMMEDIATELY
    assert rig.stage.under_way == runs[:5]


async def test_a_remote_worker_with_few_slots_claims_for_all_of_them_at_once(
    storage: Storage, clock: VirtualClock
) -> None:
    storage.work.is_remote = True  # type: ignore[misc]  # the file plays a server
    rig = Rig(storage, clock, slots=5)
    rig.stage.answer = None
    runs = [await rig.enqueue() for _ in range(6)]

    await rig.claim()

    assert rig.stage.under_way == runs[:5]


async def test_a_remote_worker_with_one_slot_claims_one_run(storage: Storage, clock: VirtualClock) -> None:
    storage.work.is_remote = True  # type: ignore[misc]  # the file plays a server
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


async def test_the_slot_of_an_ended_attempt_is_free_while_its_log_is_saved(
    storage: Storage, clock: VirtualClock
) -> None:
    rig = Rig(storage, clock, slots=1)
    rig.stage.answer = None
    first, second, third = [await rig.enqueue() for _ in range(3)]

    for run_id in (first, second):
        await rig.claim()
        rig.stage.attempts[-1].log.write("stdout", b"hello")  # saved by a round of the logbook
        rig.stage.end(run_id)
        await ease()
    await rig.claim()

    assert len(rig.consumer.held) == 2, "no more unsaved logs than slots, beside the one that occupies the slot"
    assert rig.stage.under_way == []
    await rig.logbook.round()
    await rig.save()
    await rig.claim()
    assert rig.stage.under_way == [third]


async def test_an_abandoned_attempt_still_occupies_its_slot(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, slots=2)
    rig.stage.abandoned = 2
    await rig.enqueue()

    await rig.claim()

    assert rig.stage.attempts == []


async def test_nothing_is_claimed_while_too_many_outcomes_are_unsaved(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, slots=1)
    await rig.enqueue()
    for _ in range(2):
        rig.finisher.add(succeeded(a_claim()))

    await rig.claim()
    assert rig.stage.attempts == []
    rig.consumer.wake.clear()
    await rig.finisher.round()

    assert rig.consumer.wake.is_set()
    await rig.claim()
    assert len(rig.stage.attempts) == 1


async def test_waiting_outcomes_are_saved_with_the_next_claim(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, slots=1)
    first, second = [await rig.enqueue() for _ in range(2)]
    await rig.claim()
    assert (await rig.status(first), rig.finisher.backlog) == (Status.RUNNING, 1)

    await rig.claim()

    assert (await rig.status(first), await rig.status(second)) == (Status.SUCCESS, Status.RUNNING)
    assert rig.finisher.backlog == 1


@pytest.mark.proves("R1-22", "M4")
@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
async def test_outcomes_of_a_failed_claim_are_saved_by_the_finisher(
    storage: Storage, clock: VirtualClock, faults: Faults, point: str
) -> None:
    rig = Rig(storage, clock, slots=1)
    first, second = [await rig.enqueue() for _ in range(2)]
    await rig.claim()
    rig.finisher.wake.clear()
    faults.arm(Hiccup("away"), point=f"exchange.{point}")

    with pytest.raises(Hiccup):
        await rig.consumer.round()
    assert (rig.finisher.backlog, rig.finisher.wake.is_set()) == (1, True)
    await rig.save()
    await rig.work()
    await rig.work()

    assert [await rig.status(run_id) for run_id in (first, second)] == [Status.SUCCESS] * 2
    assert len(rig.stage.attempts) == 2


async def test_an_outcome_with_a_stale_token_is_logged(
    storage: Storage, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig(storage, clock, slots=2)
    await rig.heartbeat.round()
    await rig.enqueue()
    late = a_claim()
    rig.finisher.add(succeeded(late))

    await rig.consumer.round()

    assert [record.__dict__["tokens"] for record in caplog.records if record.message == "finishes_discarded"] == [
        [late.token]
    ]
    assert rig.finisher.backlog == 0


# -- two claim loops


@pytest.fixture
def remote(storage: Storage, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch) -> Rig:
    monkeypatch.setattr(consumer, "FULL_CALL", 1)
    storage.work.is_remote = True  # type: ignore[misc]  # the file plays a server
    rig = Rig(storage, clock, slots=5)
    rig.stage.answer = None
    return rig


async def test_two_claim_loops_together_claim_at_most_the_slots(remote: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig, exchange, is_answered = remote, remote.storage.work.exchange, asyncio.Event()
    asked: list[int] = []

    async def slowly(finishes: Any, worker_id: Any, queues: Any, limit: int, **options: Any) -> Exchanged:
        asked.append(limit)
        await is_answered.wait()
        return await exchange(finishes, worker_id, queues, limit, **options)

    monkeypatch.setattr(rig.storage.work, "exchange", slowly)
    for _ in range(9):
        await rig.enqueue()
    await rig.heartbeat.round()

    rounds = [asyncio.create_task(loop.round()) for loop in (*rig.worker.claim_loops, rig.consumer)]
    await ease()
    assert asked == [3, 2]
    is_answered.set()
    await asyncio.gather(*rounds)
    await ease()

    assert len(rig.stage.under_way) == 5


async def test_two_claim_loops_share_the_waiting_outcomes(remote: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig, exchange = remote, remote.storage.work.exchange
    runs = [await rig.enqueue() for _ in range(9)]
    saved: list[int] = []

    async def noting(finishes: Any, *rest: Any, **options: Any) -> Exchanged:
        saved.append(len(finishes))
        return await exchange(finishes, *rest, **options)

    await rig.heartbeat.round()
    for loop in rig.worker.claim_loops:
        await loop.round()
    await ease()
    for run in runs[:5]:
        rig.stage.end(run)
    await ease()
    monkeypatch.setattr(rig.storage.work, "exchange", noting)
    await asyncio.gather(*(loop.round() for loop in rig.worker.claim_loops))

    assert saved == [3, 2]


async def test_the_second_claim_loop_waits_until_more_may_be_ready(remote: Rig) -> None:
    first, second = remote.worker.claim_loops
    runs = [await remote.enqueue() for _ in range(6)]
    await remote.heartbeat.round()

    assert [await first.round(), await second.round(), await second.round()] == [IMMEDIATELY, None, None]
    await ease()
    assert not second.wake.is_set()
    remote.stage.end(runs[0])
    await ease()

    assert second.wake.is_set()


async def test_a_storage_in_the_same_process_has_one_claim_loop(rig: Rig) -> None:
    assert rig.worker.claim_loops == (rig.consumer,)


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
async def test_workers_share_the_ready_runs(rig: Rig, another: Another, clock: VirtualClock) -> None:
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


@pytest.mark.proves("S6")
async def test_an_unregistered_worker_does_not_claim_until_it_is_registered_again(
    storage: Storage, clock: VirtualClock
) -> None:
    rig = Rig(storage, clock, slots=1)
    runs = [await rig.enqueue() for _ in range(2)]
    await rig.claim()
    rig.heartbeat.worker = None

    assert await rig.consumer.round() == SECOND
    rig.consumer.wake.clear()
    await rig.heartbeat.round()
    assert rig.consumer.wake.is_set()
    await rig.work()

    assert await rig.status(runs[1]) is Status.SUCCESS


# -- messages


@pytest.fixture
def brokered(storage: Storage, clock: VirtualClock, queue: MemoryQueue) -> Rig:
    return Rig(storage, clock, queue=queue, slots=2)


@pytest.mark.proves("R1-35", "Q3", "R1-29")
async def test_a_message_delivered_twice_starts_its_run_once(brokered: Rig, queue: MemoryQueue) -> None:
    run_id = await brokered.enqueue()
    await queue.announce("default", [run_id, run_id])

    await brokered.work()
    await queue.announce("default", [run_id])
    await brokered.work()

    assert len(brokered.stage.attempts) == 1


@pytest.mark.proves("Q4", "R1-46")
async def test_messages_about_unknown_runs_are_ignored(brokered: Rig, queue: MemoryQueue) -> None:
    run_id = await brokered.enqueue()
    later_on = await brokered.enqueue(delay=MINUTE)
    queue.deliver("default", b"garbage")
    queue.deliver("default", b'{"v":2,"run_id":"%s"}' % run_id.encode())
    await queue.announce("default", [RunId("0" * 26), later_on, run_id])

    await brokered.work()
    await brokered.work()

    assert [attempt.run_id for attempt in brokered.stage.attempts] == [run_id]


async def test_stale_hints_are_followed_by_the_next_hints_immediately(brokered: Rig, queue: MemoryQueue) -> None:
    await brokered.heartbeat.round()
    run_id = await brokered.enqueue()
    await queue.announce("default", [RunId("0" * 26)] * 3 + [run_id])

    assert await brokered.consumer.round() == IMMEDIATELY
    assert await brokered.consumer.round() == IMMEDIATELY
    assert await brokered.consumer.round() == SECOND
    await ease()

    assert len(brokered.stage.attempts) == 1


async def test_a_single_stale_hint_is_followed_by_another_claim_immediately(brokered: Rig, queue: MemoryQueue) -> None:
    await brokered.heartbeat.round()
    await queue.announce("default", [RunId("0" * 26)])

    assert await brokered.consumer.round() == IMMEDIATELY
    assert await brokered.consumer.round() == SECOND


class Ledger(MemoryQueue):
    """Records which messages are acknowledged."""

    def __init__(self) -> None:
        super().__init__()
        self.settled: list[RunId] = []

    async def done(self, run_ids: Sequence[RunId]) -> None:
        self.settled += run_ids


@pytest.mark.proves("Q2")
async def test_only_used_messages_are_acknowledged(storage: Storage, clock: VirtualClock, faults: Faults) -> None:
    queue = Ledger()
    rig = Rig(storage, clock, queue=queue, slots=2)
    run_id, nothing = await rig.enqueue(), RunId("0" * 26)
    await rig.heartbeat.round()
    await queue.announce("default", [run_id, nothing])
    faults.arm(Hiccup("away"), point="before_commit")

    with pytest.raises(Hiccup):
        await rig.consumer.round()
    assert queue.settled == []
    await queue.announce("default", [run_id, nothing])
    await rig.consumer.round()

    assert queue.settled == [run_id, nothing]


async def test_a_draining_worker_claims_nothing(rig: Rig) -> None:
    await rig.heartbeat.round()
    await rig.consumer.drain()
    run_id = await rig.enqueue()

    await rig.claim()

    assert rig.stage.attempts == []
    assert await rig.status(run_id) is Status.QUEUED


async def test_a_claim_whose_response_was_lost_is_given_back(rig: Rig) -> None:
    run_id = await rig.enqueue()
    await rig.heartbeat.round()
    worker = rig.heartbeat.worker
    assert worker is not None
    await rig.storage.work.claim(worker.id, worker.queues, 1)
    assert await rig.status(run_id) is Status.RUNNING

    await rig.heartbeat.round()
    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.attempt) == (Status.SUCCESS, 1)


async def test_a_renewal_during_a_claim_takes_nothing_back(rig: Rig) -> None:
    run_id = await rig.enqueue()
    await rig.heartbeat.round()
    async with rig.heartbeat.claiming() as worker:
        assert worker is not None
        await rig.storage.work.claim(worker.id, worker.queues, 1)

        renewing = asyncio.create_task(rig.heartbeat.round())
        await ease()
        rig.clock.advance(SECOND)
        rest = await renewing

    assert rest == rig.settings.lease // 3 - SECOND, "it counts from the start of the renewal"
    assert await rig.status(run_id) is Status.RUNNING


@pytest.mark.proves("L1")
@pytest.mark.parametrize("has_joined_anew", [False, True])
async def test_a_claim_that_returns_after_the_lease_expired_starts_nothing(
    storage: Storage, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch, has_joined_anew: bool
) -> None:
    """Another worker may have the run by then, and may end the processes that this attempt would start."""
    rig = Rig(storage, clock, lease=LEASE)
    run_id = await rig.enqueue()
    await rig.heartbeat.round()
    exchange = storage.work.exchange

    async def answer_late(*asked: Any, **given: Any) -> Exchanged:
        answer = await exchange(*asked, **given)
        clock.advance(LEASE)
        if has_joined_anew:
            await rig.heartbeat._register()
        return answer

    monkeypatch.setattr(storage.work, "exchange", answer_late)
    await rig.consumer.round()
    await ease()
    assert rig.stage.attempts == []

    monkeypatch.undo()
    await rig.reaper.round()
    await rig.heartbeat.round()
    await rig.work_off(2)

    run = await rig.run(run_id)
    assert (run.status, run.attempt, run.lost) == (Status.SUCCESS, 2, 1)
