"""Concurrent transactions on the same rows: which one waits, and which one skips."""

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres import open_postgres
from foliot.adapters.storage.postgres.database.schema import statements
from foliot.domain.gate.decision import End
from foliot.domain.instant import DAY, HOUR, LATEST, MINUTE, Instant, Millis
from foliot.domain.run.run import Status
from foliot.domain.schedule.project_pause import PauseOrder
from foliot.testing.builders import LEASE, REPORT, a_chunk, a_run, a_worker, every, retention, some_runs, succeeded
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.conformance.storage.tree_builders import ETL, an_opening
from tests.adapters.storage.postgres.waiting import blocked

_SOON = 8
"""Seconds. A call that does not wait is faster; a call that waits for a lock gives up later."""


@pytest.mark.proves("L1")
@pytest.mark.parametrize("queues", [["default"], ["default", "other"]], ids=["one", "several"])
@pytest.mark.parametrize("is_named", [True, False], ids=["named", "next"])
async def test_a_claim_skips_a_run_that_another_transaction_locked(
    scene: Scene, connection: "asyncpg.Connection[Any]", queues: Sequence[str], *, is_named: bool
) -> None:
    first, second = await scene.create(*some_runs(2))
    await connection.execute("BEGIN")
    await connection.execute("SELECT FROM foliot.ready WHERE run_id = $1 FOR UPDATE", first)

    async with asyncio.timeout(_SOON):
        claims = await scene.claim(1, queues=queues, only=[first, second] if is_named else None)

    await connection.execute("ROLLBACK")
    assert [claim.run_id for claim in claims] == [second]


@pytest.mark.proves("L1")
async def test_an_exchange_skips_a_run_that_another_transaction_locked(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    done = await scene.start()
    first, second = await scene.create(*some_runs(2))
    await connection.execute("BEGIN")
    await connection.execute("SELECT FROM foliot.ready WHERE run_id = $1 FOR UPDATE", first)

    async with asyncio.timeout(_SOON):
        exchanged = await scene.storage.work.exchange([succeeded(done)], done.worker_id, ["default"], 1, at=scene.now)

    await connection.execute("ROLLBACK")
    assert [claim.run_id for claim in exchanged.claims] == [second]


async def test_a_release_skips_a_run_that_another_transaction_locked(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    first, second = await scene.create(*some_runs(2, due_at=scene.after(MINUTE)))
    scene.clock.advance(MINUTE)
    await connection.execute("BEGIN")
    await connection.execute("SELECT FROM foliot.later WHERE run_id = $1 FOR UPDATE", first)

    async with asyncio.timeout(_SOON):
        released = await scene.release()

    await connection.execute("ROLLBACK")
    assert released.count == 1
    assert await scene.ready() == [second]


@pytest.mark.proves("R1-41")
async def test_a_create_waits_for_a_transaction_that_takes_its_dedupe_key(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    await scene.finish(succeeded(await scene.start(a_run(dedupe_key="k", dedupe_scope="active"))))
    await connection.execute("BEGIN; SELECT FROM foliot.dedupe FOR UPDATE")

    asking = asyncio.ensure_future(scene.create(a_run(dedupe_key="k", dedupe_scope="active")))
    await blocked(connection, asking)
    [taker] = await scene.create(a_run())
    await connection.execute("UPDATE foliot.dedupe SET run_id = $1", taker)
    await connection.execute("COMMIT")

    assert await asking == [taker]


@pytest.mark.proves("L1")
async def test_a_claim_waits_for_the_removal_of_its_worker_and_gets_nothing(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    worker = await scene.worker()
    [run_id] = await scene.create(a_run())
    await connection.execute("BEGIN; DELETE FROM foliot.workers")

    claiming = asyncio.ensure_future(scene.claim(worker=worker))
    await blocked(connection, claiming)
    await connection.execute("COMMIT")

    assert await claiming == []
    assert await scene.status(run_id) is Status.QUEUED


@pytest.mark.proves("L6")
async def test_pruning_waits_for_a_change_of_the_leader_and_removes_nothing(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    claim = await scene.start()
    await scene.finish(succeeded(claim))
    scene.clock.advance(DAY)
    upkeep = scene.storage.upkeep
    epoch = await upkeep.lead("anna", LEASE, at=scene.now)
    assert epoch is not None
    await connection.execute("BEGIN; UPDATE foliot.leader SET epoch = epoch + 1, holder = 'bert'")

    pruning = asyncio.ensure_future(upkeep.prune(retention(runs_age=HOUR), epoch=epoch, limit=9, at=scene.now))
    await blocked(connection, pruning)
    await connection.execute("COMMIT")

    assert await pruning is None
    assert await scene.status(claim.run_id) is Status.SUCCESS


@pytest.mark.proves("L6", "T15")
@pytest.mark.parametrize("span", [MINUTE, 10 * MINUTE], ids=["punctual", "late"])
async def test_a_firing_waits_for_a_concurrent_edit_and_changes_nothing(
    scene: Scene, connection: "asyncpg.Connection[Any]", span: Millis
) -> None:
    schedule = await scene.schedule(every(60))
    scene.clock.advance(span)
    [firing] = await scene.decide()
    await connection.execute("BEGIN; UPDATE foliot.schedules SET version = version + 1")

    settling = asyncio.ensure_future(scene.settle(firing))
    await blocked(connection, settling)
    await connection.execute("COMMIT")

    assert await settling == []
    assert await scene.ticks(schedule.uid) == []
    assert (await scene.stored()).settled_until == schedule.settled_until


@pytest.mark.proves("L6", "T15")
@pytest.mark.parametrize("is_pause", [True, False], ids=["pause", "edit"])
async def test_a_change_of_a_schedule_waits_for_a_concurrent_firing(
    scene: Scene, connection: "asyncpg.Connection[Any]", *, is_pause: bool
) -> None:
    schedule = await scene.schedule(every(60))
    await connection.execute("BEGIN; UPDATE foliot.schedules SET version = version + 1")

    change = scene.pause(paused=True) if is_pause else scene.schedule(every(90))
    changing = asyncio.ensure_future(change)
    await blocked(connection, changing)
    await connection.execute("COMMIT")

    assert (await changing).version == schedule.version + 2
    assert await scene.stored() == await changing


@pytest.mark.proves("D7")
async def test_an_execution_is_not_opened_during_a_rename_of_its_job(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    job = await scene.job(ETL)
    claim = await scene.start(a_run(job_id=job.id))
    opening = an_opening(claim)
    named = opening._replace(tree=opening.tree._replace(revision=job.revision))
    await connection.execute("BEGIN; UPDATE foliot.jobs SET revision = revision + 1")

    opening_it = asyncio.ensure_future(scene.storage.trees.open([named], at=scene.now))
    await blocked(connection, opening_it)
    await connection.execute("COMMIT")

    assert await opening_it == [claim.token]
    assert await scene.storage.queries.get_executions([claim.run_id]) == {}
    assert await scene.status(claim.run_id) is Status.RUNNING


@pytest.mark.proves("S6")
async def test_a_limit_removed_while_a_run_requests_it_is_created_again(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    await scene.finish(succeeded(await scene.start(a_run(max_concurrent=1))))
    await connection.execute("BEGIN; DELETE FROM foliot.limits")

    creating = asyncio.ensure_future(scene.create(a_run(max_concurrent=1)))
    await blocked(connection, creating)
    await connection.execute("COMMIT")

    created = await creating
    assert await scene.ready() == created


@pytest.mark.proves("L2")
async def test_output_that_arrives_while_the_attempt_ends_is_refused(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    claim = await scene.start()
    await connection.execute("BEGIN; DELETE FROM foliot.leases")

    printing = asyncio.ensure_future(scene.storage.work.append_log([a_chunk(claim)]))
    await blocked(connection, printing)
    await connection.execute("COMMIT")

    assert await printing == [claim.token]
    assert await scene.storage.queries.read_log(claim.run_id) == []


@pytest.mark.proves("D10")
async def test_watching_a_job_includes_ends_that_are_being_saved(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    claim = await scene.start()
    await connection.execute("BEGIN; SELECT FROM foliot.watched")
    await connection.execute("DELETE FROM foliot.leases")
    await connection.execute(
        "UPDATE foliot.runs SET status = 'success', finished_at = $1, attempt = 1, token = $2, worker_id = $3, "
        "started_at = $1",
        *(scene.now, claim.token, claim.worker_id),
    )

    watching = asyncio.ensure_future(scene.storage.definitions.watch_jobs({REPORT: DAY}))
    await blocked(connection, watching)
    await connection.execute("COMMIT")
    await watching

    seen = await scene.storage.admission.dependency_states([REPORT], after=Instant(0), until=LATEST)
    assert seen[REPORT].end == End(claim.run_id, Status.SUCCESS, scene.now)


@pytest.mark.proves("L5")
async def test_a_renewal_does_not_wait_for_a_full_pool(dsn: str, connection: "asyncpg.Connection[Any]") -> None:
    async with await open_postgres(dsn, max_connections=1) as storage:
        worker = a_worker()
        await storage.work.register(worker, LEASE)
        await connection.execute("BEGIN; LOCK TABLE foliot.runs IN ACCESS EXCLUSIVE MODE")
        waiting = [asyncio.ensure_future(storage.orders.create([a_run()])) for _ in range(3)]
        await blocked(connection, waiting[0])

        async with asyncio.timeout(_SOON):
            renewal = await storage.work.renew(worker.id, [], LEASE)

        await connection.execute("ROLLBACK")
        await asyncio.gather(*waiting)
    assert renewal is not None


@pytest.mark.proves("L6", "T3")
async def test_a_pause_of_all_schedules_waits_for_a_decision_that_is_being_saved(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    await connection.execute("BEGIN")
    before = await connection.fetchval("SELECT foliot.pause_version('default')")

    pausing = asyncio.ensure_future(scene.storage.definitions.pause_project(PauseOrder()))
    await blocked(connection, pausing)
    is_done = pausing.done()
    await connection.execute("COMMIT")

    assert (before, is_done, (await pausing).version) == (0, False, 1)


@pytest.mark.proves("L6", "T3")
async def test_a_decision_that_waits_for_a_pause_of_all_schedules_is_not_saved(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    await scene.schedule(every(60))
    scene.clock.advance(MINUTE)
    firings = await scene.decide()
    await connection.execute("BEGIN")
    await connection.execute(statements()["lock_project_pauses"])
    await connection.execute(
        "INSERT INTO foliot.project_pauses VALUES ('default', $1, NULL, 1, '', '', '{}', '{}')", scene.now
    )

    saving = asyncio.ensure_future(scene.storage.ledger.commit_firings(firings, pause_version=0, at=scene.now))
    await blocked(connection, saving)
    await connection.execute("COMMIT")

    assert await saving == []
