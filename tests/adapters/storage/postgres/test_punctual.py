"""The fast path for firings writes the same rows as the general path."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.ledger import PostgresLedger, commit_firings
from foliot.adapters.storage.shared.ledger import is_punctual
from foliot.domain.ids import ScheduleUid
from foliot.domain.instant import MINUTE
from foliot.domain.run.run import Status
from foliot.domain.schedule.firing import Firing
from foliot.ports.definitions import NewSchedule
from foliot.testing.builders import REPORT, a_job_spec, a_run, a_schedule, every
from foliot.testing.conformance.storage.scene import Scene

TABLES = ("schedules", "ticks", "runs", "ready", "later", "holds", "planned")


@pytest.fixture
async def twin(dsn: str) -> AsyncIterator[PostgresStorage]:
    """A second storage beside the first, for the general path."""
    async with await open_postgres(dsn, schema="twin") as storage:
        yield storage


async def put(storage: PostgresStorage, scene: Scene, schedules: list[NewSchedule]) -> None:
    await storage.definitions.put_jobs([(REPORT, a_job_spec(payload_template={"a": 'b"\\'}))], at=scene.now)
    await storage.definitions.put_schedules(schedules, at=scene.now)


async def commit_by_the_general_path(
    storage: PostgresStorage, firings: list[Firing], scene: Scene
) -> list[ScheduleUid]:
    async def work(transaction: Transaction) -> list[ScheduleUid]:
        return await commit_firings(transaction, "default", firings, None, scene.now)

    assert isinstance(storage.ledger, PostgresLedger)
    return await storage.ledger._database.write("commit_firings", work)


async def recorded_events(storage: PostgresStorage) -> list[tuple[str, list[Any]]]:
    events = await storage.queries.events(after=0, limit=100)
    return [(event.kind.value, sorted(event.items)) for event in events]


@pytest.mark.proves("T5")
async def test_both_paths_write_the_same_rows_and_events(
    storage: PostgresStorage, twin: PostgresStorage, scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    schedules = [a_schedule(every(60, payload=n % 2 or None), schedule_id=f"s{n}") for n in range(5)]
    await put(storage, scene, schedules)
    await put(twin, scene, schedules)
    scene.clock.advance(MINUTE)
    firings = await scene.decide()
    assert all(map(is_punctual, firings))

    short, long = await scene.settle(*firings), await commit_by_the_general_path(twin, firings, scene)

    assert short == long == [firing.uid for firing in firings]
    for table in TABLES:
        ours, theirs = [
            await connection.fetch(f"TABLE {schema}.{table} ORDER BY 1, 2") for schema in ("foliot", "twin")
        ]
        assert ours == theirs, table
    assert await recorded_events(storage) == await recorded_events(twin)


@pytest.mark.proves("L6")
async def test_outdated_firings_are_not_saved_and_the_others_are(scene: Scene) -> None:
    stale = await scene.schedule(every(60), schedule_id="a")
    current = await scene.schedule(every(60), schedule_id="b")
    scene.clock.advance(MINUTE)
    firings = await scene.decide()
    await scene.pause(paused=True, schedule_id=stale.id)

    saved = await scene.settle(*firings)

    assert saved == [current.uid]
    assert await scene.ticks(stale.uid) == []
    assert len(await scene.ready()) == len(await scene.ticks(current.uid)) == 1


@pytest.mark.proves("L6")
async def test_saving_a_firing_twice_is_a_no_op(scene: Scene) -> None:
    schedule = await scene.schedule(every(60))
    scene.clock.advance(MINUTE)
    firings = await scene.decide()

    first, second = await scene.settle(*firings), await scene.settle(*firings)

    assert (first, second) == ([schedule.uid], [])
    assert len(await scene.ready()) == 1


async def test_a_run_that_exists_is_handled_by_the_general_path(scene: Scene) -> None:
    schedule = await scene.schedule(every(60))
    scene.clock.advance(MINUTE)
    [firing] = await scene.decide()
    await scene.create(a_run(id=firing.runs[0].id))

    saved = await scene.settle(firing)

    assert saved == [schedule.uid]
    assert await scene.status(firing.runs[0].id) is Status.QUEUED
