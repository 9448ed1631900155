"""Attempts that are cancelled or time out."""

import asyncio
import gc

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE, SECOND, Millis
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Status
from foliot.engine.worker.attempt import Ending, RunningAttempt
from foliot.ports.runner import Attempt
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.inline import InlineEngine
from tests.engine.ease import ease
from tests.engine.rig import Rig


@pytest.mark.proves("R1-34", "S5", "R1-25")
async def test_a_cancellation_ends_the_attempt_and_the_run(rig: Rig) -> None:
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await rig.claim()

    await rig.storage.orders.cancel([run_id])
    assert await rig.status(run_id) is Status.CANCELLING
    assert rig.heartbeat.wake.is_set()
    await rig.work()

    assert rig.stage.cancelled == [run_id]
    assert await rig.status(run_id) is Status.CANCELLED


@pytest.mark.proves("S5", "R1-34")
async def test_a_queued_run_that_is_cancelled_never_starts(rig: Rig) -> None:
    run_id = await rig.enqueue()
    await rig.storage.orders.cancel([run_id])

    await rig.work()

    assert rig.stage.attempts == []
    assert await rig.status(run_id) is Status.CANCELLED


@pytest.mark.proves("S9", "S5")
async def test_a_cancelled_run_is_not_retried(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=5, base=Millis(0)))
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await rig.claim()
    await rig.storage.orders.cancel([run_id])

    rig.stage.end(run_id, Failure("exit code 1", Reason.EXIT_CODE, exit_code=1))
    await ease()
    await rig.save()

    assert await rig.status(run_id) is Status.CANCELLED


@pytest.mark.proves("S7")
async def test_an_attempt_that_takes_too_long_times_out(rig: Rig) -> None:
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
    assert (run.status, run.reason, run.error) == (Status.TIMEOUT, "timeout", "took longer than 10 s")
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
    """A runner that needs time to end what it started, and must not be cancelled again meanwhile."""

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
    await storage.definitions.put_jobs(
        [(JobId("report"), JobSpec(kind="stubborn", options=Options(timeout=Millis(MINUTE))))]
    )
    run_id = await rig.enqueue()
    await rig.claim()

    for _ in range(3):
        await storage.orders.cancel([run_id])
        await rig.heartbeat.round()
        await ease()
    clock.advance(MINUTE)
    await ease()
    runner.cleaning.set()
    await ease()
    await rig.save()

    assert runner.is_clean
    assert await rig.status(run_id) is Status.CANCELLED


@pytest.mark.proves("L2", "S10")
async def test_an_attempt_that_loses_its_lease_during_cancellation_reports_nothing(
    storage: Storage, clock: VirtualClock
) -> None:
    runner = Stubborn()
    rig = Rig(storage, clock, runners={"stubborn": runner})
    await storage.definitions.put_jobs([(JobId("report"), JobSpec(kind="stubborn"))])
    run_id = await rig.enqueue()
    await rig.claim()
    await storage.orders.cancel([run_id])
    await rig.heartbeat.round()
    await ease()

    rig.consumer.end(list(rig.consumer.held), Ending.LEASE_LOST)
    runner.cleaning.set()
    await ease()

    assert runner.is_clean
    assert (rig.consumer.held, rig.finisher.backlog) == ([], 0)


@pytest.mark.proves("S6")
async def test_a_function_that_cancels_its_own_task_has_failed(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, runners={"stage": Suicidal()})
    run_id = await rig.enqueue()

    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.reason, run.attempt) == (Status.FAILED, Reason.EXCEPTION, 1)
    assert run.error == "the task of this run was cancelled, and not by Foliot"


class Suicidal:
    """A runner whose attempts cancel their own task."""

    abandoned = 0

    async def run(self, attempt: Attempt) -> Success | Failure:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        raise AssertionError("it went on")


async def test_an_ended_attempt_of_a_function_is_not_kept_in_memory(app: Foliot) -> None:
    """Attempts are structs that the garbage collector does not see: a cycle through one of them would stay for ever."""

    @app.job
    async def quick() -> None: ...

    async with InlineEngine(app) as engine:
        before = attempts_in_memory()
        await app.enqueue_many("quick", [None] * 20)
        await engine.run_until_idle()

        assert attempts_in_memory() <= before


def attempts_in_memory() -> int:
    gc.collect()
    return sum(isinstance(one, RunningAttempt) for one in gc.get_objects())
