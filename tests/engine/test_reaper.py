"""What vanished workers held is freed, counted, and fenced off."""

from collections.abc import Collection

import pytest

from foliot.domain.ids import RunId
from foliot.domain.instant import DAY, HOUR, SECOND, Millis
from foliot.domain.job.job import Delivery
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Status
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.scheduler import reaper as reaper_module
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Another
from tests.engine.ease import ease
from tests.engine.rig import LEASE, Rig


@pytest.fixture
def doomed(storage: Storage, clock: VirtualClock) -> Rig:
    """A worker whose attempts go on until it vanishes: the test stops cranking it."""
    rig = Rig(storage, clock, lease=LEASE)
    rig.stage.answer = None
    return rig


@pytest.fixture
async def heir(another: Another, clock: VirtualClock) -> Rig:
    """Another process, which notices and takes over."""
    return Rig(await another(), clock)


@pytest.mark.proves("R1-20", "R1-21", "L1")
async def test_a_run_whose_worker_vanished_is_taken_over(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()

    clock.advance(LEASE)
    await heir.reaper.round()
    await heir.work()

    run = await heir.run(run_id)
    assert (run.status, run.attempt, run.lost) == (Status.SUCCESS, 2, 1)
    first, second = await heir.storage.queries.attempts(run_id)
    assert (first.reason, second.status) == ("lease_lost", "success")
    assert second.token > first.token


@pytest.mark.proves("L1", "L4")
@pytest.mark.parametrize(
    "outcome",
    [
        Failure("killed by SIGTERM", Reason.SIGNAL, exit_code=143),
        Failure("exit code 1", Reason.EXIT_CODE, exit_code=1),
    ],
)
async def test_a_failure_that_a_worker_taken_for_dead_sees_counts_as_a_lost_attempt(
    doomed: Rig, heir: Rig, clock: VirtualClock, outcome: Failure
) -> None:
    """The heir ends the processes of the doomed one before it frees the runs, and the doomed one may see it first."""
    run_id = await doomed.enqueue()
    await doomed.claim()

    clock.advance(LEASE)
    doomed.stage.end(run_id, outcome)
    await ease()
    await doomed.save()
    await heir.reaper.round()
    await heir.work()

    run = await heir.run(run_id)
    assert (run.status, run.attempt, run.lost) == (Status.SUCCESS, 2, 1)


@pytest.mark.proves("L1")
@pytest.mark.parametrize(
    ("outcome", "after", "status"),
    [
        (Success(), LEASE, Status.SUCCESS),
        (Failure("no", Reason.EXCEPTION), LEASE, Status.FAILED),
        (Failure("exit code 1", Reason.EXIT_CODE, exit_code=1), LEASE - 1, Status.FAILED),
    ],
)
async def test_what_nobody_else_can_have_done_is_saved_also_when_it_comes_late(
    doomed: Rig, clock: VirtualClock, outcome: Success | Failure, after: int, status: Status
) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()

    clock.advance(after)
    doomed.stage.end(run_id, outcome)
    await ease()
    await doomed.save()

    assert await doomed.status(run_id) is status


@pytest.mark.proves("S8", "L3")
async def test_a_living_worker_keeps_what_it_holds(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()

    for _ in range(6):
        clock.advance(LEASE // 3)
        await doomed.heartbeat.round()
        await heir.reaper.round()
    before = await heir.run(run_id)

    assert (before.status, before.attempt, before.lost) == (Status.RUNNING, 1, 0)
    assert doomed.stage.under_way == [run_id]


@pytest.mark.proves("S8", "R1-04")
async def test_the_start_of_a_scheduler_changes_no_run(doomed: Rig, heir: Rig) -> None:
    doomed.stage.answer = None
    for delay in (0, 0, HOUR):
        await doomed.enqueue(delay=delay)
    await doomed.heartbeat.round()
    await doomed.consumer.round()
    await doomed.enqueue()
    before = await doomed.runs()

    for duty in heir.timekeeping.duties:
        await duty.round()

    assert await doomed.runs() == before


@pytest.mark.proves("L3")
@pytest.mark.parametrize("step", [HOUR, -HOUR])
async def test_a_step_of_the_wall_clock_neither_frees_a_lease_nor_keeps_a_dead_one(
    doomed: Rig, heir: Rig, clock: VirtualClock, step: int
) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()

    clock.step(step)
    await heir.reaper.round()
    assert await heir.status(run_id) is Status.RUNNING
    clock.advance(LEASE + 2 * SECOND)
    await heir.reaper.round()

    assert (await heir.run(run_id)).lost == 1


@pytest.mark.proves("L3")
async def test_what_ran_before_a_reboot_is_lost(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()

    clock.reboot()
    await heir.reaper.round()

    assert (await heir.run(run_id)).lost == 1


@pytest.mark.proves("Q5", "S3")
async def test_a_run_that_kills_every_worker_fails_at_last(doomed: Rig, another: Another, clock: VirtualClock) -> None:
    await doomed.job(max_lost=2)
    run_id = await doomed.enqueue()
    for _ in range(5):
        victim = Rig(await another(), clock, lease=LEASE)
        victim.stage.answer = None
        await victim.claim()
        clock.advance(LEASE)
        await victim.reaper.round()

    run = await doomed.run(run_id)
    assert (run.status, run.reason, run.attempt) == (Status.FAILED, "lease_lost", 3)


async def test_lost_attempts_do_not_use_up_the_retries(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    await doomed.job(retry=Retry(retries=1, base=Millis(0)))
    run_id = await doomed.enqueue()
    await doomed.claim()
    clock.advance(LEASE)
    await heir.reaper.round()
    heir.stage.answer = ValueError("a real failure")

    await heir.work()
    heir.stage.answer = None
    await heir.claim()

    assert (await heir.run(run_id)).attempt == 3
    assert heir.stage.under_way == [run_id]


async def test_at_most_once_is_never_tried_again(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    await doomed.job(delivery=Delivery.AT_MOST_ONCE)
    run_id = await doomed.enqueue()
    await doomed.claim()

    clock.advance(LEASE)
    await heir.reaper.round()

    assert await heir.status(run_id) is Status.FAILED


@pytest.mark.proves("L4")
async def test_an_end_that_comes_after_expiry_but_before_the_reaper_counts(
    doomed: Rig, heir: Rig, clock: VirtualClock
) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()
    clock.advance(LEASE)

    doomed.stage.end(run_id)
    await ease()
    await doomed.save()
    await heir.reaper.round()

    run = await heir.run(run_id)
    assert (run.status, run.attempt, run.lost) == (Status.SUCCESS, 1, 0)


@pytest.mark.proves("L2", "L4", "S10")
async def test_an_end_that_comes_after_the_reaper_changes_nothing(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()
    clock.advance(LEASE)
    await heir.reaper.round()
    heir.stage.answer = None
    await heir.claim()

    doomed.stage.end(run_id)
    await ease()
    await doomed.save()

    run = await heir.run(run_id)
    assert (run.status, run.attempt) == (Status.RUNNING, 2)
    assert doomed.finisher.backlog == 0


@pytest.mark.proves("L2", "L5")
async def test_a_worker_that_stalled_ends_its_attempts_when_it_wakes(
    doomed: Rig, heir: Rig, clock: VirtualClock
) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()
    clock.advance(LEASE)
    await heir.reaper.round()

    await doomed.heartbeat.round()
    await ease()
    await doomed.save()

    assert doomed.stage.cancelled == [run_id]
    assert doomed.consumer.held == []
    assert await heir.status(run_id) is Status.QUEUED


@pytest.mark.proves("L1", "L5")
async def test_a_worker_that_has_expired_claims_nothing(doomed: Rig, clock: VirtualClock) -> None:
    await doomed.heartbeat.round()
    clock.advance(LEASE)
    run_id = await doomed.enqueue()

    await doomed.consumer.round()

    assert await doomed.status(run_id) is Status.QUEUED


@pytest.mark.proves("S5", "S9")
async def test_a_cancelled_run_whose_worker_vanished_is_cancelled(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()
    await doomed.storage.orders.cancel([run_id])

    clock.advance(LEASE)
    await heir.reaper.round()

    assert await heir.status(run_id) is Status.CANCELLED


async def test_a_vanished_worker_is_forgotten_once_it_holds_nothing(
    doomed: Rig, heir: Rig, clock: VirtualClock
) -> None:
    await doomed.enqueue()
    await doomed.claim()
    clock.advance(LEASE)

    await heir.reaper.round()

    assert await heir.storage.admission.workers() == []


@pytest.mark.proves("L10")
async def test_the_places_of_a_vanished_worker_are_given_to_others(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    await doomed.job(max_concurrent=1, delivery=Delivery.AT_MOST_ONCE)
    await doomed.enqueue()
    waiting = await doomed.enqueue()
    await doomed.claim()
    clock.advance(DAY)

    await heir.reaper.round()
    await heir.work()

    assert await heir.status(waiting) is Status.SUCCESS


async def test_more_than_a_batch_of_lost_runs_is_freed_at_once(
    doomed: Rig, heir: Rig, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper_module, "BATCH", 2)
    runs = [await doomed.enqueue() for _ in range(3)]
    await doomed.claim()
    clock.advance(LEASE)

    assert await heir.reaper.round() == IMMEDIATELY
    assert await heir.reaper.round() == SECOND

    assert [(await heir.run(run_id)).lost for run_id in runs] == [1, 1, 1]


# -- what is left running


class Broom:
    """Notes what is swept, and how things stood then."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self.swept: list[tuple[RunId, int]] = []
        self.statuses: list[Status] = []
        self.begun: list[int] = []

    async def __call__(self, attempts: Collection[tuple[RunId, int]]) -> None:
        self.swept += attempts
        self.statuses += [await self._rig.status(run_id) for run_id, _ in attempts]
        self.begun.append(len(self._rig.stage.attempts))


@pytest.mark.proves("L1", "E1")
async def test_what_a_vanished_worker_left_running_is_ended_before_its_runs_are_freed(
    doomed: Rig, another: Another, clock: VirtualClock
) -> None:
    runs = [await doomed.enqueue() for _ in range(2)]
    await doomed.claim()
    storage = await another()
    broom = Broom(Rig(storage, clock))
    clock.advance(LEASE)

    await Rig(storage, clock, sweep=broom).reaper.round()

    assert broom.swept == [(run_id, 1) for run_id in runs]
    assert broom.statuses == [Status.RUNNING] * 2


@pytest.mark.proves("L1", "E1")
async def test_before_a_lost_run_begins_anew_what_is_left_of_all_its_attempts_is_ended(
    storage: Storage, another: Another, clock: VirtualClock
) -> None:
    """Whoever noticed may be on another machine, and the attempts before the last may have been on this one."""
    worker = Rig(storage, clock)
    await worker.job(max_lost=5)
    run_id = await worker.enqueue()
    for _ in range(2):
        victim = Rig(await another(), clock, lease=LEASE)
        victim.stage.answer = None
        await victim.claim()
        clock.advance(LEASE)
        await victim.reaper.round()
    broom = Broom(worker)
    worker = Rig(storage, clock, sweep=broom)
    fresh = await worker.enqueue()

    await worker.claim()

    assert broom.swept == [(run_id, 1), (run_id, 2)]
    assert broom.begun == [0]
    assert {attempt.run_id for attempt in worker.stage.attempts} == {run_id, fresh}
