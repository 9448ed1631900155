"""History is removed in pieces, without an index by age."""

from pathlib import Path

import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.instant import DAY, HOUR, MINUTE
from foliot.domain.run.run import Status
from foliot.ports.upkeep import Pruned
from foliot.testing.builders import LEASE, a_chunk, a_run, a_worker, retention, some_runs, succeeded
from foliot.testing.clock import VirtualClock
from tests.adapters.storage.sqlite.files import opened, rows


async def prune(storage: SqliteStorage, *, limit: int, **ages: int) -> Pruned:
    epoch = await storage.upkeep.lead("janitor", LEASE)
    assert epoch is not None
    pruned = await storage.upkeep.prune(retention(**ages), epoch=epoch, limit=limit)
    assert pruned is not None
    return pruned


async def run_some(storage: SqliteStorage, how_many: int, *, has_log: bool = False) -> None:
    worker = a_worker()
    await storage.work.register(worker, LEASE)
    await storage.orders.create(some_runs(how_many))
    claims = (await storage.work.claim(worker.id, ["default"], how_many)).claims
    if has_log:
        await storage.work.append_log([a_chunk(claim) for claim in claims])
    await storage.work.finish([succeeded(claim) for claim in claims])


async def test_runs_that_are_due_next_year_do_not_block_pruning(storage: SqliteStorage, clock: VirtualClock) -> None:
    await storage.orders.create(some_runs(30, due_at=clock.now() + 365 * DAY))
    await run_some(storage, 25)
    clock.advance(DAY)

    pruned = [(await prune(storage, limit=10, runs_age=HOUR)).runs for _ in range(4)]

    assert pruned == [10, 10, 5, 0]


async def test_a_new_round_begins_after_the_last_run(storage: SqliteStorage, clock: VirtualClock) -> None:
    for _ in range(3):
        await run_some(storage, 4)
        clock.advance(DAY)
        assert (await prune(storage, limit=100, runs_age=HOUR)).runs == 4


async def test_surplus_runs_of_a_job_are_removed_in_pieces(storage: SqliteStorage, tmp_path: Path) -> None:
    await run_some(storage, 25)

    pruned = [(await prune(storage, limit=10, runs_per_job=3)).runs for _ in range(4)]

    assert pruned == [10, 10, 2, 0]


async def test_the_log_of_a_long_run_does_not_keep_other_logs(storage: SqliteStorage, clock: VirtualClock) -> None:
    worker = a_worker()
    await storage.work.register(worker, LEASE)
    await storage.orders.create([a_run()])
    [long] = (await storage.work.claim(worker.id, ["default"], 1)).claims
    await storage.work.append_log([a_chunk(long, seq=seq) for seq in range(20)])
    await run_some(storage, 5, has_log=True)
    clock.advance(DAY)

    pieces = [await prune(storage, limit=10, logs_age=HOUR) for _ in range(3)]

    assert [(piece.logs, piece.is_more) for piece in pieces] == [(0, True), (0, True), (5, False)]
    assert len(await storage.queries.read_log(long.run_id)) == 20
    assert (await storage.queries.get_runs([long.run_id]))[long.run_id].status is Status.RUNNING


async def test_unused_limits_are_removed(storage: SqliteStorage, tmp_path: Path) -> None:
    await storage.orders.create(some_runs(2, concurrency_key="database"))
    [run] = await storage.admission.ready("default", 10)
    count = "SELECT count(*) FROM limits"
    await prune(storage, limit=10)
    assert rows(tmp_path / "foliot.db", count) == [(1,)]

    await storage.orders.cancel([run])
    await storage.orders.cancel(await storage.admission.ready("default", 10))
    await prune(storage, limit=10)

    assert rows(tmp_path / "foliot.db", count) == [(0,)]


async def test_a_leader_of_an_old_epoch_removes_nothing_and_no_logs(
    storage: SqliteStorage, clock: VirtualClock, tmp_path: Path
) -> None:
    await run_some(storage, 3, has_log=True)
    old = await storage.upkeep.lead("janitor", LEASE)
    clock.advance(LEASE + MINUTE + DAY)
    await storage.upkeep.lead("another", LEASE)
    assert old is not None

    pruned = await storage.upkeep.prune(retention(runs_age=HOUR, logs_age=HOUR), epoch=old, limit=10)

    assert pruned is None
    assert [event.kind for event in await storage.queries.events(after=0, limit=10)][-1] == "runs.ended"
    assert rows(tmp_path / "foliot.db-logs", "SELECT count(*) FROM log_chunks") == [(3,)]


@pytest.mark.parametrize("point", ["prune_logs.before_commit", "prune.before_commit"])
async def test_a_piece_that_was_not_committed_is_pruned_again(tmp_path: Path, clock: VirtualClock, point: str) -> None:
    faults = [point]

    def fail(reached: str) -> None:
        if reached in faults:
            faults.remove(reached)
            raise OSError("the disk is full")

    async with opened(tmp_path / "foliot.db", clock=clock, faults=fail) as storage:
        await run_some(storage, 5, has_log=True)
        clock.advance(DAY)
        with pytest.raises(OSError, match="full"):
            await prune(storage, limit=10, runs_per_job=1, logs_age=HOUR)

        pruned = await prune(storage, limit=10, runs_per_job=1, logs_age=HOUR)

    assert pruned.runs == 4
    assert rows(tmp_path / "foliot.db-logs", "SELECT count(*) FROM log_chunks") == [(0,)]
