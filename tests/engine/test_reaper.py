"""Leases of vanished workers are freed, counted and fenced."""

from collections.abc import Collection, Sequence

import pytest

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import DAY, HOUR, SECOND, Millis
from foliot.domain.job.job import Delivery
from foliot.domain.run.lease import Finish
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
    """A worker that vanishes when the test stops running its rounds."""
    rig = Rig(storage, clock, lease=LEASE)
    rig.stage.answer = None
    return rig


@pytest.fixture
async def heir(another: Another, clock: VirtualClock) -> Rig:
    """Another process, which reaps the leases and takes over."""
    return Rig(await another(), clock)


@pytest.mark.proves("R1-20", "R1-21", "L1")
async def test_a_run_of_a_vanished_worker_is_taken_over(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
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


async def test_only_runs_that_the_reaper_freed_are_logged(
    doomed: Rig, heir: Rig, clock: VirtualClock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    freed, finished_first = await doomed.enqueue(), await doomed.enqueue()
    await doomed.claim()
    clock.advance(LEASE)

    async def lose_one(finishes: Sequence[Finish]) -> list[Token]:
        return [one.token for one in finishes if one.run_id == finished_first]

    monkeypatch.setattr(heir.storage.work, "finish", lose_one)
    await heir.reaper.round()

    assert [vars(one)["runs"] for one in caplog.records if one.message == "leases_reaped"] == [[freed]]


@pytest.mark.proves("L1", "L4")
@pytest.mark.parametrize(
    "outcome",
    [
        Failure("killed by SIGTERM", Reason.SIGNAL, exit_code=143),
        Failure("exit code 1", Reason.EXIT_CODE, exit_code=1),
    ],
)
async def test_a_failure_seen_by_an_expired_worker_is_a_lost_attempt(
    doomed: Rig, heir: Rig, clock: VirtualClock, outcome: Failure
) -> None:
    """The heir ends the processes of the expired worker first, so that worker may see a failure before the reaper."""
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


@pytest.mark.proves("L4")
@pytest.mark.parametrize(
    ("outcome", "after", "status"),
    [
        (Success(), LEASE, Status.SUCCESS),
        (Failure("no", Reason.EXCEPTION), LEASE, Status.FAILED),
        (Failure("exit code 1", Reason.EXIT_CODE, exit_code=1), LEASE - 1, Status.FAILED),
    ],
)
async def test_a_late_outcome_that_no_sweep_can_cause_is_saved(
    doomed: Rig, clock: VirtualClock, outcome: Success | Failure, after: int, status: Status
) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()

    clock.advance(after)
    doomed.stage.end(run_id, outcome)
    await ease()
    await doomed.save()

    assert await doomed.status(run_id) is status


class ProcessTable:
    """The processes of a machine, as one of them sees them."""

    def __init__(self, own: str, gone: set[str]) -> None:
        self.own = own
        self._gone = gone

    def is_gone(self, process: str) -> bool:
        return process in self._gone


@pytest.mark.proves("L1", "R1-20")
async def test_the_runs_of_a_process_that_is_gone_are_freed_before_their_lease_expires(
    storage: Storage, another: Another, clock: VirtualClock
) -> None:
    gone: set[str] = set()
    doomed = Rig(storage, clock, lease=LEASE, processes=ProcessTable("first", gone))
    doomed.stage.answer = None
    run_id = await doomed.enqueue()
    await doomed.claim()
    heir = Rig(await another(), clock, processes=ProcessTable("second", gone))
    await heir.heartbeat.round()
    await heir.reaper.round()
    assert await heir.status(run_id) is Status.RUNNING

    gone.add("first")
    await heir.reaper.round()
    await heir.work()

    run = await heir.run(run_id)
    assert (run.status, run.attempt, run.lost) == (Status.SUCCESS, 2, 1)


@pytest.mark.proves("S8")
async def test_a_live_worker_keeps_its_leases(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()

    for _ in range(6):
        clock.advance(LEASE // 3)
        await doomed.heartbeat.round()
        await heir.reaper.round()
    before = await heir.run(run_id)

    assert (before.status, before.attempt, before.lost) == (Status.RUNNING, 1, 0)
    assert doomed.stage.under_way == [run_id]


@pytest.mark.proves("S8")
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
async def test_runs_from_before_a_reboot_are_lost(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    run_id = await doomed.enqueue()
    await doomed.claim()

    clock.reboot()
    await heir.reaper.round()

    assert (await heir.run(run_id)).lost == 1


@pytest.mark.proves("Q5", "S3")
async def test_a_run_that_kills_every_worker_fails_eventually(
    doomed: Rig, another: Another, clock: VirtualClock
) -> None:
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


async def test_an_at_most_once_run_is_never_retried(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    await doomed.job(delivery=Delivery.AT_MOST_ONCE)
    run_id = await doomed.enqueue()
    await doomed.claim()

    clock.advance(LEASE)
    await heir.reaper.round()

    assert await heir.status(run_id) is Status.FAILED


@pytest.mark.proves("L4")
async def test_an_outcome_after_expiry_but_before_the_reaper_is_saved(
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
async def test_an_outcome_after_the_reaper_changes_nothing(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
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
async def test_a_stalled_worker_ends_its_attempts_when_it_resumes(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
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


async def test_a_vanished_worker_without_leases_is_removed(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    await doomed.enqueue()
    await doomed.claim()
    clock.advance(LEASE)

    await heir.reaper.round()

    assert await heir.storage.admission.workers() == []


@pytest.mark.proves("S6")
async def test_places_held_by_a_vanished_worker_are_released(doomed: Rig, heir: Rig, clock: VirtualClock) -> None:
    await doomed.job(max_concurrent=1, delivery=Delivery.AT_MOST_ONCE)
    await doomed.enqueue()
    waiting = await doomed.enqueue()
    await doomed.claim()
    clock.advance(DAY)

    await heir.reaper.round()
    await heir.work()

    assert await heir.status(waiting) is Status.SUCCESS


async def test_more_than_a_batch_of_lost_runs_is_freed_without_a_pause(
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
    """Records what is swept, and the state at that time."""

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
async def test_processes_of_a_vanished_worker_end_before_its_runs_are_freed(
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
async def test_processes_of_all_former_attempts_end_before_a_lost_run_starts_again(
    storage: Storage, another: Another, clock: VirtualClock
) -> None:
    """The reaper may run on another machine, and earlier attempts may have run on this one."""
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
