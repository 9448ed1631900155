"""Broken connections, crashes and collisions: nothing is lost, nothing is done twice, and no answer is wrong."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.adapters.storage.postgres.database.schema import statements
from foliot.adapters.storage.postgres.database.transaction import Database
from foliot.domain.events import EventKind
from foliot.domain.gate.decision import Decided, Decision
from foliot.domain.gate.spec import Action
from foliot.domain.instant import MINUTE
from foliot.domain.run.lease import CancelAnswer, Renewal
from foliot.domain.run.mark import MarkAnswer, Marked
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.errors import StorageUnavailable
from foliot.ports.orders import Created
from foliot.ports.topic import Topic
from foliot.testing.builders import LEASE, a_run, a_run_id, every, failed, some_runs, succeeded, to_retry
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.conformance.storage.tree_builders import (
    ETL,
    a_child,
    a_settlement,
    an_opening,
    final_settlement,
    opened,
    settle,
)
from foliot.testing.memory import MEMORY
from foliot.testing.postgres import PostgresServer
from tests.adapters.storage.postgres.faults import Faults


class PowerCut(BaseException):
    """Simulates the end of the process."""


def cut() -> None:
    raise PowerCut


@pytest.fixture
def lose_commit(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lose the reply to the next COMMIT; the commit itself is carried out."""

    def plant() -> None:
        true_execute = asyncpg.pool.PoolConnectionProxy.execute

        async def execute(self: Any, query: str, *values: Any, **options: Any) -> str:
            answer: str = await true_execute(self, query, *values, **options)
            if query == "COMMIT":
                monkeypatch.setattr(asyncpg.pool.PoolConnectionProxy, "execute", true_execute)
                self.terminate()
                raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
            return answer

        monkeypatch.setattr(asyncpg.pool.PoolConnectionProxy, "execute", execute)

    return plant


@pytest.mark.proves("M4")
async def test_a_create_with_a_lost_reply_creates_one_run(scene: Scene, lose_commit: Callable[[], None]) -> None:
    run, keyed = a_run(), a_run(dedupe_key="order-1")
    lose_commit()

    created = await scene.storage.orders.create([run, keyed], at=scene.now)

    assert created == [Created(run.id, is_new=True), Created(keyed.id, is_new=True)]
    assert await scene.ready() == [run.id, keyed.id]


@pytest.fixture
def lose_reply(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lose the reply to a single statement; the statement itself is carried out."""

    def plant(name: str) -> None:
        driver: Any = asyncpg.Connection
        true_execute = driver._do_execute

        async def execute(self: Any, query: str, *values: Any, **options: Any) -> Any:
            answer = await true_execute(self, query, *values, **options)
            if query == statements()[name]:
                monkeypatch.setattr(driver, "_do_execute", true_execute)
                self.terminate()
                raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
            return answer

        monkeypatch.setattr(driver, "_do_execute", execute)

    return plant


@pytest.mark.proves("M4")
async def test_a_plain_create_with_a_lost_reply_creates_each_run_once(
    scene: Scene, lose_reply: Callable[[str], None]
) -> None:
    runs = some_runs(3)
    lose_reply("create_plain_runs")

    created = await scene.storage.orders.create(runs)

    assert created == [Created(run.id, is_new=True) for run in runs]
    assert await scene.ready() == [run.id for run in runs]


@pytest.mark.proves("M4", "T1", "T5")
async def test_a_punctual_firing_with_a_lost_reply_counts_as_saved(
    scene: Scene, lose_reply: Callable[[str], None]
) -> None:
    schedule = await scene.schedule(every(60))
    scene.clock.advance(MINUTE)
    firings = await scene.decide()
    lose_reply("commit_punctual")

    saved = await scene.settle(*firings)

    assert saved == [schedule.uid]
    assert len(await scene.ticks(schedule.uid)) == len(await scene.ready()) == 1


@pytest.mark.proves("M3")
@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
async def test_a_create_is_atomic(scene: Scene, faults: Faults, point: str) -> None:
    faults.plant(f"create.{point}", cut)

    with pytest.raises(PowerCut):
        await scene.storage.orders.create(some_runs(3))

    assert len(await scene.ready()) == (3 if point == "after_commit" else 0)


@pytest.mark.proves("M4")
async def test_a_finish_with_a_lost_reply_is_not_stale(scene: Scene, lose_commit: Callable[[], None]) -> None:
    await scene.create(*some_runs(3))
    one, two, three = await scene.claim()
    lose_commit()

    stale = await scene.finish(succeeded(one), to_retry(two), succeeded(three))

    assert stale == []
    expected = [Status.SUCCESS, Status.QUEUED, Status.SUCCESS]
    assert await scene.statuses(one.run_id, two.run_id, three.run_id) == expected
    assert len(await scene.storage.queries.attempts(two.run_id)) == 1


@pytest.mark.proves("M4")
async def test_plain_successes_with_a_lost_reply_are_not_stale(scene: Scene, lose_reply: Callable[[str], None]) -> None:
    await scene.create(*some_runs(3))
    claims = await scene.claim()
    lose_reply("end_successes")

    stale = await scene.finish(*map(succeeded, claims))

    assert stale == []
    assert await scene.statuses(*(claim.run_id for claim in claims)) == [Status.SUCCESS] * 3


@pytest.mark.proves("M4", "T1", "T5")
async def test_a_firing_with_a_lost_reply_counts_as_saved(scene: Scene, lose_commit: Callable[[], None]) -> None:
    ran = await scene.schedule(every(60), schedule_id="a")
    skipped = await scene.schedule(every(60, overlap="skip"), schedule_id="b")
    await scene.fire_after(MINUTE)
    [claim] = [claim for claim in await scene.claim() if claim.tick and claim.tick.uid == ran.uid]
    await scene.finish(succeeded(claim))
    scene.clock.advance(MINUTE)
    firings = await scene.decide()
    lose_commit()

    saved = await scene.settle(*firings)

    assert set(saved) == {ran.uid, skipped.uid}
    assert [len(await scene.ticks(uid)) for uid in saved] == [2, 2]


@pytest.mark.proves("M4")
async def test_a_cancel_with_a_lost_reply_returns_its_answers(scene: Scene, lose_commit: Callable[[], None]) -> None:
    running = await scene.start()
    [queued] = await scene.create(a_run())
    lose_commit()

    assert await scene.cancel(queued, running.run_id) == [CancelAnswer.CANCELLED, CancelAnswer.REQUESTED]


@pytest.mark.proves("M4")
async def test_a_mark_with_a_lost_reply_returns_its_answers(scene: Scene, lose_commit: Callable[[], None]) -> None:
    broken = await scene.start()
    await scene.finish(failed(broken))
    [waiting] = await scene.create(a_run())
    marks = {broken.run_id: a_run_id(), waiting: a_run_id()}
    lose_commit()

    marked = await scene.storage.orders.mark(marks, at=scene.now)

    assert marked == {
        broken.run_id: Marked(MarkAnswer.RECORDED, marks[broken.run_id]),
        waiting: Marked(MarkAnswer.MARKED, waiting),
    }


@pytest.mark.proves("M4")
async def test_an_approval_answer_with_a_lost_reply_counts_as_saved(
    scene: Scene, lose_commit: Callable[[], None]
) -> None:
    [run_id] = await scene.create(a_run())
    lose_commit()

    assert await scene.storage.orders.answer({run_id: Ended(Status.SUCCESS)}, at=scene.now) == [run_id]
    assert await scene.status(run_id) is Status.SUCCESS


@pytest.mark.proves("M4", "L2")
async def test_a_renewal_with_a_lost_reply_returns_the_leases_it_gave_back(
    scene: Scene, lose_commit: Callable[[], None]
) -> None:
    worker = await scene.worker()
    known, foreign = await scene.start(worker=worker), await scene.start(worker=worker)
    lose_commit()

    renewal = await scene.storage.work.renew(worker.id, [known.token], LEASE, at=scene.now)

    assert renewal == Renewal((), (foreign.token,), ())
    assert await scene.ready() == [foreign.run_id]


@pytest.mark.proves("M4")
async def test_a_delete_with_a_lost_reply_returns_what_existed(scene: Scene, lose_commit: Callable[[], None]) -> None:
    schedule = await scene.schedule()
    lose_commit()

    assert await scene.storage.definitions.delete_schedules([schedule.id], at=scene.now) == [schedule.id]


@pytest.mark.proves("L1", "M4")
async def test_a_claim_with_a_lost_reply_is_not_repeated(scene: Scene, lose_reply: Callable[[str], None]) -> None:
    worker = await scene.standby()
    runs = await scene.create(*some_runs(4))
    lose_reply("claim_runs")

    with pytest.raises(StorageUnavailable):
        await scene.claim(2)

    assert len(await scene.ready()) == 2
    await scene.storage.work.renew(worker.id, [], MINUTE, at=scene.now)
    assert await scene.ready() == runs


@pytest.mark.proves("L1", "M4")
async def test_an_exchange_with_a_lost_reply_is_not_repeated_and_loses_nothing(
    scene: Scene, lose_reply: Callable[[str], None]
) -> None:
    worker = await scene.standby()
    runs = await scene.create(*some_runs(4))
    [first] = await scene.claim(1)
    lose_reply("exchange_runs")

    with pytest.raises(StorageUnavailable):
        await scene.storage.work.exchange([succeeded(first)], worker.id, ["default"], 2, at=scene.now)

    assert len(await scene.ready()) == 1
    assert await scene.finish(succeeded(first)) == []
    assert await scene.status(first.run_id) is Status.SUCCESS
    await scene.storage.work.renew(worker.id, [], MINUTE, at=scene.now)
    assert await scene.ready() == runs[1:]


@pytest.mark.proves("M3")
@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
async def test_an_exchange_is_atomic(scene: Scene, faults: Faults, point: str) -> None:
    worker = await scene.standby()
    first, second = await scene.create(*some_runs(2))
    claims = await scene.claim(1)
    faults.plant(f"exchange.{point}", cut)

    with pytest.raises(PowerCut):
        await scene.storage.work.exchange([succeeded(claims[0])], worker.id, ["default"], 1, at=scene.now)

    done = [Status.SUCCESS, Status.RUNNING]
    assert await scene.statuses(first, second) == (done if point == "after_commit" else [Status.RUNNING, Status.QUEUED])


@pytest.mark.proves("M4")
async def test_broken_connections_are_replaced(scene: Scene, server: PostgresServer, database: str) -> None:
    [run_id] = await scene.create(a_run())
    server.terminate_backends(database)

    claims = await asyncio.gather(*(scene.claim(1) for _ in range(5)))

    assert [claim.run_id for batch in claims for claim in batch] == [run_id]


@pytest.mark.proves("M3", "T5")
@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
async def test_a_firing_is_atomic(scene: Scene, faults: Faults, point: str) -> None:
    schedule = await scene.schedule(every(60))
    scene.clock.advance(MINUTE)
    firings = await scene.decide()
    faults.plant(f"commit_firings.{point}", cut)

    with pytest.raises(PowerCut):
        await scene.settle(*firings)

    done = point == "after_commit"
    assert len(await scene.ticks(schedule.uid)) == len(await scene.ready()) == int(done)
    assert ((await scene.stored()).settled_until > schedule.settled_until) is done


@pytest.mark.proves("M3")
@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
async def test_a_finish_is_atomic(scene: Scene, faults: Faults, point: str) -> None:
    claim = await scene.start(a_run(max_concurrent=1))
    faults.plant(f"finish.{point}", cut)

    with pytest.raises(PowerCut):
        await scene.finish(succeeded(claim))

    assert await scene.status(claim.run_id) is (Status.SUCCESS if point == "after_commit" else Status.RUNNING)


@pytest.mark.proves("L10", "S6")
async def test_admit_gives_free_slots_to_waiting_runs_after_a_crash(scene: Scene, faults: Faults) -> None:
    claim = await scene.start(a_run(max_concurrent=1))
    [waiting] = await scene.create(a_run(max_concurrent=1))
    faults.plant("finish.after_commit", cut)
    with pytest.raises(PowerCut):
        await scene.finish(succeeded(claim))
    assert await scene.ready() == []

    assert await scene.storage.admission.admit(100, at=scene.now) == 1

    assert await scene.ready() == [waiting]


@pytest.mark.proves("M1", "M3")
async def test_saved_runs_survive_a_crash_of_the_server(dsn: str) -> None:
    with PostgresServer.start(is_durable=True) as durable:
        assert MEMORY not in durable.directory.parents
        async with await open_postgres(durable.dsn()) as storage:
            scene = Scene(storage, VirtualClock())
            claim = await scene.start()
            await scene.finish(succeeded(claim))
            [queued] = await scene.create(a_run())
            durable.crash()
            durable.recover()

            assert await scene.statuses(claim.run_id, queued) == [Status.SUCCESS, Status.QUEUED]


@pytest.mark.proves("Z48")
async def test_an_unreachable_server_is_reported_without_the_password() -> None:
    with pytest.raises(StorageUnavailable) as failure:
        await open_postgres("postgresql://anna:s3cret@127.0.0.1:1/orders")

    assert "127.0.0.1:1/orders" in failure.value.message
    assert "s3cret" not in str(failure.value)


@pytest.mark.proves("M4")
async def test_a_collision_is_tried_again(
    storage: PostgresStorage, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_once = Database._once
    collisions = [asyncpg.DeadlockDetectedError("deadlock detected"), asyncpg.SerializationError("could not serialize")]

    async def once(self: Database, *work: Any) -> Any:
        if collisions:
            raise collisions.pop()
        return await true_once(self, *work)

    monkeypatch.setattr(Database, "_once", once)

    assert len(await scene.create(a_run())) == 1
    assert collisions == []


async def test_the_bell_listens_again_after_its_connection_broke(
    storage: PostgresStorage, dsn: str, server: PostgresServer, database: str
) -> None:
    server.terminate_backends(database)
    await bell_is_back(storage)

    async with await open_postgres(dsn) as other:
        await assert_rings(storage, lambda: other.orders.create([a_run()]))


async def bell_is_back(storage: PostgresStorage) -> None:
    """Wait until every signal is set: after a reconnect, missed notifications are unknown."""
    signal = storage.signal(Topic.SCHEDULES)
    signal.clear()
    async with asyncio.timeout(30):
        await signal.wait()


async def assert_rings(storage: PostgresStorage, act: Callable[[], Awaitable[object]]) -> None:
    signal = storage.signal(Topic.RUNS)
    signal.clear()
    await act()
    async with asyncio.timeout(30):
        await signal.wait()


@pytest.mark.proves("M4", "D6")
async def test_an_opening_with_a_lost_reply_begins_one_execution(scene: Scene, lose_commit: Callable[[], None]) -> None:
    claim = await scene.start(a_run(job_id=ETL))
    lose_commit()

    assert await scene.storage.trees.open([an_opening(claim)], at=scene.now) == []

    assert await scene.status(claim.run_id) is Status.RUNNING
    assert len(await scene.ready()) == len(await scene.items(EventKind.EXECUTIONS_OPENED)) == 1


@pytest.mark.proves("M4", "D5", "D6")
async def test_a_settlement_with_a_lost_reply_counts_as_saved(scene: Scene, lose_commit: Callable[[], None]) -> None:
    ending, going_on = await opened(scene), await opened(scene)
    load = a_child(going_on.run_id, "load")
    lose_commit()

    saved = await settle(scene, final_settlement(ending), a_settlement(going_on, runs={"load": load}))

    assert sorted(saved) == [ending.run_id, going_on.run_id]
    assert await scene.items(EventKind.EXECUTIONS_ENDED) == [[ending.run_id, ETL, Status.SUCCESS]]
    assert (await scene.ready()).count(load.id) == 1


@pytest.mark.proves("M4")
async def test_after_a_lost_reply_a_settlement_by_another_node_does_not_count_as_saved(
    scene: Scene, lose_commit: Callable[[], None]
) -> None:
    execution, other = await opened(scene), await opened(scene)
    await settle(scene, a_settlement(execution, runs={"load": a_child(execution.run_id, "load")}))
    lose_commit()

    saved = await settle(
        scene, a_settlement(execution, runs={"load": a_child(execution.run_id, "load")}), a_settlement(other)
    )

    assert saved == [other.run_id]


@pytest.mark.proves("M4")
async def test_after_a_lost_reply_later_settlements_by_other_nodes_do_not_count_as_saved(
    scene: Scene, lose_commit: Callable[[], None]
) -> None:
    execution, other = await opened(scene), await opened(scene)
    await settle(scene, a_settlement(execution))
    await settle(scene, a_settlement(execution._replace(state=execution.state + 1)))
    lose_commit()

    assert await settle(scene, a_settlement(execution), a_settlement(other)) == [other.run_id]


@pytest.mark.proves("M4", "D10")
async def test_a_gate_decision_with_a_lost_reply_counts_as_saved(scene: Scene, lose_commit: Callable[[], None]) -> None:
    [run_id] = await scene.create(a_run(is_gated=True))
    lose_commit()

    passed = [Decided(run_id, Decision(action=Action.SKIP, reason=Reason.DEP_MISSING))]
    assert await scene.storage.admission.decide_gates(passed, [], at=scene.now) == [run_id]

    assert await scene.items(EventKind.RUNS_ENDED) == [[run_id, Status.SKIPPED, 0]]
