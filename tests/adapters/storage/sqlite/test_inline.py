"""Without threads the same calls write the same rows."""

import threading
from pathlib import Path

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.ids import RunId, WorkerId
from foliot.domain.instant import MINUTE
from foliot.ports.topic import Topic
from foliot.testing.builders import LEASE, a_run, a_schedule, a_worker, every, fire, succeeded
from foliot.testing.clock import VirtualClock
from tests.adapters.storage.sqlite.files import dump, opened


async def make_some_calls(storage: SqliteStorage, clock: VirtualClock) -> None:
    worker = a_worker()._replace(id=WorkerId("worker"))
    await storage.work.register(worker, LEASE)
    await storage.definitions.put_schedules([a_schedule(every(60), uid="uid")])
    clock.advance(MINUTE)
    due = await storage.ledger.due(10)
    await storage.ledger.commit_firings([fire(one, due.now, jobs=due.jobs) for one in due.schedules])
    runs = [a_run(id=f"run-{number}", max_concurrent=2) for number in range(5)]
    await storage.orders.create(runs)
    claims = (await storage.work.claim(worker.id, ["default"], 10)).claims
    await storage.work.finish([succeeded(claim) for claim in claims])


async def test_the_same_calls_write_the_same_rows(tmp_path: Path) -> None:
    for name in ("one.db", "two.db"):
        clock = VirtualClock()
        async with opened(tmp_path / name, clock=clock, inline=True) as storage:
            await make_some_calls(storage, clock)

    assert dump(tmp_path / "one.db") == dump(tmp_path / "two.db")
    assert len(dump(tmp_path / "one.db")["runs"]) == 5


async def test_no_thread_is_started(tmp_path: Path) -> None:
    before = set(threading.enumerate())  # not their number: a thread of another test may end meanwhile

    async with opened(tmp_path / "foliot.db", inline=True) as storage:
        await make_some_calls(storage, VirtualClock())
        await storage.queries.read_log(RunId("run-1"))

        assert set(threading.enumerate()) <= before


async def test_many_inline_storages_on_one_file_neither_wait_nor_miss_a_ring(tmp_path: Path) -> None:
    path = tmp_path / "foliot.db"
    async with opened(path, inline=True) as one, opened(path, inline=True) as two, opened(path, inline=True) as three:
        for storage in (one, two, three):
            await storage.orders.create([a_run()])
            two.signal(Topic.RUNS).clear()
            await storage.orders.create([a_run()])
            assert two.signal(Topic.RUNS).is_set()

        assert len(await three.admission.ready("default", 100)) == 6
