"""A node: its duties start together and stop in order."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Millis
from foliot.domain.run.outcome import Failure, Success
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Catchup
from foliot.engine.coordinator.role import CoordinatorRole
from foliot.engine.node import Node, build_worker
from foliot.engine.scheduler.role import SchedulerRole
from foliot.engine.settings import DRAIN, Role, Settings
from foliot.errors import StorageGone, StorageUnavailable
from foliot.ports.runner import Attempt
from foliot.ports.storage import Storage
from foliot.testing.builders import every, retention
from foliot.testing.clock import START, VirtualClock
from foliot.testing.simulation.faults import Faults, Hiccup
from tests.engine.ease import ease
from tests.engine.rig import LEASE, Rig, Stage


@pytest.fixture
async def node(rig: Rig) -> Node:
    """A running node on the parts of the rig. The duties of the rig itself do not run."""
    made = Node(rig.parts, Settings(label="node", slots=2, lease=LEASE))
    await made.start()
    return made


async def pass_time(clock: VirtualClock, span: int, step: int = SECOND) -> None:
    for _ in range(span // step):
        clock.advance(step)
        await ease(60)


@pytest.mark.proves("R1-08", "R4-50", "R1-04")
async def test_a_node_does_everything_by_itself(node: Node, rig: Rig) -> None:
    await rig.schedule(every(60))

    await pass_time(rig.clock, 3 * MINUTE)
    await node.stop()

    assert [run.status for run in await rig.runs()] == [Status.SUCCESS] * 3


@pytest.mark.proves("R1-04")
async def test_a_schedule_that_was_due_while_no_node_ran_fires_after_the_start(node: Node, rig: Rig) -> None:
    await rig.schedule(every(3_600, catchup=Catchup.ONCE))
    await pass_time(rig.clock, SECOND)
    await node.stop()
    rig.clock.advance(90 * MINUTE)

    again = Node(rig.parts, Settings(label="again", lease=LEASE))
    await again.start()
    await pass_time(rig.clock, 2 * SECOND)
    await again.stop()

    [run] = await rig.runs()
    assert run.tick is not None
    assert (run.tick.scheduled_for - START, run.status) == (HOUR, Status.SUCCESS)


@pytest.mark.proves("R1-08")
async def test_scheduler_and_worker_may_be_two_processes(rig: Rig) -> None:
    nodes = [Node(rig.parts, Settings(label=role, roles=[role])) for role in Role]
    for node in nodes:
        await node.start()
    await rig.schedule(every(60))

    await pass_time(rig.clock, MINUTE)
    for node in nodes:
        await node.stop()

    assert [run.status for run in await rig.runs()] == [Status.SUCCESS]


async def test_an_outage_of_the_storage_is_logged_once_for_all_duties(
    node: Node, rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise StorageUnavailable("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(rig.storage.ledger, "due", refuse)
        patch.setattr(rig.storage.upkeep, "expired_leases", refuse)
        patch.setattr(rig.storage.work, "renew", refuse)
        await pass_time(rig.clock, 30 * SECOND)
    await pass_time(rig.clock, 30 * SECOND)
    await node.stop()

    logged = [record.message for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
    assert logged == ["storage_outage_began", "storage_outage_ended"]


async def test_a_stopping_node_waits_for_running_attempts(node: Node, rig: Rig) -> None:
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await ease(60)
    stopping = asyncio.create_task(node.stop())
    await ease(60)
    assert not stopping.done()

    rig.stage.end(run_id)
    await ease(60)
    await stopping

    assert await rig.status(run_id) is Status.SUCCESS
    assert await rig.storage.admission.workers() == []


async def test_a_stopping_worker_is_listed_as_draining(node: Node, rig: Rig) -> None:
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await ease(60)
    stopping = asyncio.create_task(node.stop())
    await ease(60)

    states = await rig.storage.admission.workers()
    assert [state.is_draining for state in states if "default" in state.worker.queues] == [True]
    rig.stage.end(run_id)
    await stopping


async def test_a_stopping_node_claims_nothing(node: Node, rig: Rig) -> None:
    rig.stage.answer = None
    running = await rig.enqueue()
    await ease(60)
    stopping = asyncio.create_task(node.stop())
    await ease(60)

    fresh = await rig.enqueue()
    await ease(60)
    rig.stage.end(running)
    await stopping

    assert await rig.status(fresh) is Status.QUEUED


@pytest.mark.proves("S3")
async def test_attempts_that_do_not_end_in_time_are_given_back_uncounted(node: Node, rig: Rig) -> None:
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await ease(60)
    stopping = asyncio.create_task(node.stop())
    await ease(60)

    await pass_time(rig.clock, DRAIN)
    assert stopping.done()

    run = await rig.run(run_id)
    assert rig.stage.cancelled == [run_id]
    assert (run.status, run.attempt, run.lost) == (Status.QUEUED, 0, 0)


async def test_a_stopping_worker_renews_its_leases(rig: Rig) -> None:
    node = Node(rig.parts, Settings(label="node", lease=LEASE, drain=Millis(10 * MINUTE)))
    await node.start()
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await ease(60)
    stopping = asyncio.create_task(node.stop())

    await pass_time(rig.clock, 5 * MINUTE, 10 * SECOND)
    await rig.reaper.round()
    assert await rig.status(run_id) is Status.RUNNING
    rig.stage.end(run_id)
    await stopping

    assert await rig.status(run_id) is Status.SUCCESS


async def test_a_node_survives_occasional_storage_errors(node: Node, rig: Rig, faults: Faults) -> None:
    await rig.schedule(every(10))

    for number in range(120):
        faults.arm(Hiccup("away"), point=("before_commit", "after_commit")[number % 2], after=3)
        await pass_time(rig.clock, SECOND)
    faults.disarm()
    await pass_time(rig.clock, MINUTE)
    await node.stop()

    runs = await rig.runs()
    assert {run.status for run in runs} == {Status.SUCCESS}
    assert len(runs) >= 17


@pytest.mark.proves("M4")
async def test_a_stopping_node_saves_its_last_outcome_after_a_storage_error(
    node: Node, rig: Rig, faults: Faults
) -> None:
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await ease(60)
    stopping = asyncio.create_task(node.stop())
    await ease(60)
    faults.arm(Hiccup("away"), point="finish.before_commit")

    rig.stage.end(run_id)
    await pass_time(rig.clock, 2 * SECOND, 100)

    assert stopping.done()
    assert (await rig.status(run_id), faults.last_point) == (Status.SUCCESS, "finish.before_commit")


class Deaf(Stage):
    """A runner whose attempts ignore their cancellation."""

    async def run(self, attempt: Attempt) -> Success | Failure:
        while True:
            with suppress(asyncio.CancelledError):
                return await super().run(attempt)


async def test_an_attempt_that_cannot_be_ended_is_abandoned_and_counted(rig: Rig, clock: VirtualClock) -> None:
    deaf = Deaf()
    deaf.answer = None
    parts = replace(rig.parts, runners={"stage": deaf})
    node = Node(parts, Settings(label="node", lease=LEASE, drain=Millis(SECOND)))
    await node.start()
    run_id = await rig.enqueue()
    await ease(60)
    stopping = asyncio.create_task(node.stop())

    await pass_time(clock, MINUTE)
    is_stopped, left = stopping.done(), node.abandoned
    deaf.end(run_id)
    await ease()

    assert (is_stopped, left) == (True, 1)


async def test_a_failed_node_reports_its_first_error_once(
    rig: Rig, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = iter([StorageGone("the file is gone"), StorageGone("it is another file"), StorageGone("and gone again")])

    async def check() -> None:
        raise next(reasons)

    monkeypatch.setattr(rig.storage.upkeep, "check", check)
    node = Node(rig.parts, Settings(label="node", lease=LEASE))
    told: list[str] = []
    node.on_failure = lambda: told.append(str(node.failure and node.failure.message))
    await node.start()

    await pass_time(clock, 250, 50)
    await node.stop()

    assert told == ["the file is gone"]
    assert node.failure is not None
    assert node.failure.message == "the file is gone"


async def test_every_duty_uses_the_settings(rig: Rig, storage: Storage, clock: VirtualClock) -> None:
    settings = Settings(label="node", poll=Millis(200), retention=retention(runs_age=DAY))
    timekeeping, work = SchedulerRole(rig.parts, settings), build_worker(rig.parts, settings)
    coordinator = CoordinatorRole(rig.parts, settings)
    await work.heartbeat.round()
    await rig.enqueue()
    await rig.work()
    clock.advance(2 * DAY)

    polling = (timekeeping.dispatcher, timekeeping.gates, timekeeping.reaper, work.consumer, coordinator.settler)
    rests = [await duty.round() for duty in polling]
    await timekeeping.janitor.round()

    assert rests == [200] * 5
    assert await rig.runs() == []


async def test_a_node_stops_while_the_storage_fails(node: Node, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_: object, **__: object) -> object:
        raise Hiccup("away")

    rig.stage.answer = None
    await rig.enqueue()
    await ease(60)
    for verb in ("finish", "renew", "retire"):
        monkeypatch.setattr(rig.storage.work, verb, away)
    stopping = asyncio.create_task(node.stop())

    await pass_time(rig.clock, 2 * MINUTE)

    assert stopping.done()


@pytest.mark.parametrize("verb", ["ledger.due", "work.exchange", "upkeep.resign", "work.retire"])
async def test_a_node_stops_while_the_storage_does_not_respond(
    node: Node, rig: Rig, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    port, _, name = verb.partition(".")
    asked = asyncio.Event()

    async def say_nothing(*_: object, **__: object) -> None:
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(getattr(rig.storage, port), name, say_nothing)
    await rig.enqueue()
    await pass_time(rig.clock, 2 * SECOND)
    stopping = asyncio.create_task(node.stop())
    await pass_time(rig.clock, MINUTE)

    assert asked.is_set()
    assert stopping.done()
    assert not node.is_running
