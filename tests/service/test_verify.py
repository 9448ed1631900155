"""`verify` finds what is wrong with a ledger, and calls nothing wrong that is not."""

import gc
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.audit import Fault
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, later
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.schedule.tick import tick_key
from foliot.domain.workflow.spec import ON_SUCCESS
from foliot.service.queries import verify as verifying
from foliot.service.queries.verify import Report, verify
from foliot.testing.builders import NIGHTLY, every, retention, succeeded
from foliot.testing.clock import START, VirtualClock
from foliot.testing.conformance.storage.scene import Scene

BEGINNING = Instant(0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "foliot.db"


@pytest.fixture
async def scene(path: Path) -> AsyncIterator[Scene]:
    clock = VirtualClock()
    storage = await SqliteStorage.open(path, clock=clock, inline=True, synchronous="NORMAL")
    yield Scene(storage, clock)
    await storage.close()


async def report(scene: Scene, since: Instant = BEGINNING) -> Report:
    [found] = [found async for found in verify(scene.storage, since)]
    return found


async def work(scene: Scene, rounds: int) -> list[RunId]:
    """Fire each minute, and finish every run before the next tick."""
    done: list[RunId] = []
    for _ in range(rounds):
        done += await scene.fire_after(MINUTE)
        await scene.finish(*[succeeded(claim) for claim in await scene.claim(queues=("default", TREES_QUEUE))])
    return done


def tamper(path: Path, sql: str, *values: object) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql, values)
    assert connection.changes() == 1
    connection.close()


# -- where the look begins


@pytest.mark.proves("T5")
@pytest.mark.parametrize("offset", [-MINUTE, -1, 0, 1, 30 * SECOND, MINUTE])
async def test_verify_finds_no_fault_from_any_time_in_an_outage(scene: Scene, offset: int) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(10 * HOUR)
    await scene.fire_after(MINUTE)

    found = await report(scene, since=Instant(scene.now - 2 * HOUR + offset))

    assert found.is_sound
    assert found.ticks == 10 * 60 + 1


@pytest.mark.parametrize("offset", [-1, 0, 1])
async def test_verify_finds_no_fault_from_the_beginning_of_an_outage(scene: Scene, offset: int) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(10 * HOUR)

    found = await report(scene, since=later(START, MINUTE + offset))

    assert (found.is_sound, found.ticks) == (True, 10 * 60)


async def test_verify_finds_no_fault_in_a_partly_pruned_outage(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(10 * HOUR)
    tamper(path, "UPDATE schedules SET ledger_from = ?", later(START, HOUR))

    assert (await report(scene)).is_sound


async def test_verify_ignores_rows_before_since(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    await work(scene, 6)
    tamper(path, "DELETE FROM ticks WHERE scheduled_for = ?", later(START, 2 * MINUTE))

    assert not (await report(scene)).is_sound
    assert (await report(scene, since=later(START, 3 * MINUTE))).ticks == 3
    assert (await report(scene, since=later(START, 3 * MINUTE))).is_sound


async def test_verify_reads_a_ledger_page_by_page_and_every_row_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in ("_PAGE", "_SHORT", "_ROWS", "_RUNS"):
        monkeypatch.setattr(verifying, size, 2)
    await scene.schedule(every(60))
    await scene.fire_after(HOUR)
    await work(scene, 5)

    found = await report(scene, since=later(START, 30 * MINUTE))

    assert (found.is_sound, found.ticks) == (True, 65)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (f"key = 'abc' WHERE scheduled_for = {START + 5 * MINUTE}", Fault.WRONG_KEY),
        (
            f"outcome = 'failed', reason = 'launch_failed', run_id = NULL WHERE scheduled_for = {START + MINUTE}",
            Fault.UNRECORDED_RUN,
        ),
    ],
)
async def test_verify_finds_a_fault_on_a_later_page(
    scene: Scene, path: Path, monkeypatch: pytest.MonkeyPatch, change: str, fault: Fault
) -> None:
    for size in ("_SHORT", "_ROWS", "_RUNS"):
        monkeypatch.setattr(verifying, size, 2)
    await scene.schedule(every(60))
    await work(scene, 5)
    tamper(path, f"UPDATE ticks SET {change}")

    assert [finding.fault for finding in (await report(scene)).findings] == [fault]


@pytest.mark.parametrize("size", [1, 2, 200])
async def test_verify_finds_a_missing_run_with_any_page_size(
    scene: Scene, path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(verifying, "_RUNS", size)
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    await work(scene, 1)
    await scene.fire_after(MINUTE)
    [_under_way] = await scene.claim()
    [gone] = await work(scene, 1)
    tamper(path, "DELETE FROM runs WHERE id = ?", gone)

    found = await report(scene, since=later(START, 2 * MINUTE + 1))

    assert [(finding.fault, finding.run_id) for finding in found.findings] == [(Fault.RUN_MISSING, gone)]


async def test_short_sound_ledgers_are_read_together(scene: Scene) -> None:
    for number in range(5):
        await scene.schedule(every(60), schedule_id=f"schedule-{number}")
    await work(scene, 3)
    reads = Reads(scene)

    found = [one async for one in verify(reads, BEGINNING)]  # type: ignore[arg-type]  # what is read

    assert [(one.ticks, one.findings) for one in found] == [(3, [])] * 5
    assert reads.verbs == ["ledgers", "recent_rows", "ledgers"]


async def test_a_short_ledger_is_sound_after_retention_has_removed_all_older_runs(scene: Scene) -> None:
    await scene.schedule(every(60))
    await work(scene, 8)
    await scene.prune(retention(runs_per_job=3))
    reads = Reads(scene)

    found = [one async for one in verify(reads, BEGINNING)]  # type: ignore[arg-type]  # what is read

    assert [(one.ticks, one.findings) for one in found] == [(8, [])]
    assert reads.verbs == ["ledgers", "recent_rows", "ledgers"]


@pytest.mark.parametrize("are_runs_kept", [True, False])
async def test_verify_of_a_longer_ledger_takes_no_more_memory(
    scene: Scene, path: Path, monkeypatch: pytest.MonkeyPatch, are_runs_kept: bool
) -> None:
    for size in ("_ROWS", "_RUNS"):
        monkeypatch.setattr(verifying, size, 100)
    await scene.schedule(every(1))
    await scene.fire_after(SECOND)
    await scene.finish(*[succeeded(claim) for claim in await scene.claim()])

    peaks = [await peak_of_a_look(scene, path, ticks, are_runs_kept) for ticks in (2_000, 4_000, 20_000)]

    assert peaks[2] < 1.5 * peaks[1]


async def peak_of_a_look(scene: Scene, path: Path, ticks: int, are_runs_kept: bool) -> int:
    """Return the peak memory of a check. A first check fills the caches."""
    lengthen(path, ticks, are_runs_kept)
    gc.collect()
    tracemalloc.start()
    found = await report(scene)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.ticks, found.findings) == (ticks, [])
    return peak


def key_of(*moment: Any) -> str:
    return tick_key(NIGHTLY, *moment)


def lengthen(path: Path, ticks: int, are_runs_kept: bool) -> None:
    """Write a ledger of that many ticks, one per second."""
    connection = apsw.Connection(str(path))
    connection.create_scalar_function("key_of", key_of, 1)
    connection.execute(
        "WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < ?2)"
        " INSERT OR IGNORE INTO ticks SELECT uid, moment, moment, 1, 'ran', 'on_time', moment, 1,"
        " printf('7%025d', value), NULL, key_of(moment), moment"
        " FROM (SELECT uid, value, ?1 + value * 1000 AS moment FROM schedules, numbers)",
        (START, ticks),
    )
    if are_runs_kept:
        connection.execute(
            "INSERT OR IGNORE INTO runs (id, project, job_id, queue, priority, trigger, status, due_at, created_at,"
            " finished_at, attempt, lost, schedule_uid, schedule_id, scheduled_for, tick_key)"
            " SELECT t.run_id, project, job_id, queue, priority, trigger, status, t.fire_at, t.fire_at, t.fire_at,"
            " attempt, lost, t.uid, schedule_id, t.scheduled_for, t.key"
            " FROM ticks t, (SELECT * FROM runs ORDER BY id LIMIT 1) WHERE t.run_id > '7'"
        )
    else:
        connection.execute("DELETE FROM runs")
    until = START + ticks * SECOND
    connection.execute(
        "UPDATE schedules SET settled_until = ?1, last_scheduled_at = ?1, next_run_at = ?2, wake_at = ?2",
        (until, until + SECOND),
    )
    connection.close()


# -- what is not wrong


@pytest.mark.parametrize("verb", ["ledgers", "recent_rows", "ticks", "tick_keys", "shared_runs", "due"])
async def test_verify_ignores_concurrently_decided_ticks(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    if verb in ("ticks", "tick_keys", "shared_runs"):
        monkeypatch.setattr(verifying, "_SHORT", 0)
    await scene.schedule(every(60))
    await work(scene, 3)

    looking = verify(Busy(scene, verb, lambda: work(scene, 1)), BEGINNING)  # type: ignore[arg-type]  # what is read

    assert [found.findings async for found in looking] == [[]]


async def test_verify_ignores_concurrently_removed_rows(scene: Scene) -> None:
    await scene.schedule(every(60))
    await work(scene, 9)
    ages = iter([8 * MINUTE, 6 * MINUTE])

    async def prune() -> None:
        await scene.prune(retention(ticks_age=next(ages), runs_age=4 * MINUTE))

    looking = verify(Busy(scene, "ledgers", prune, times=2), BEGINNING)  # type: ignore[arg-type]  # what is read

    assert [found.findings async for found in looking] == [[]]


async def test_verify_ignores_a_concurrently_removed_schedule(scene: Scene, path: Path) -> None:
    forgotten = await scene.schedule(every(60), schedule_id="forgotten")
    await scene.schedule(every(60), schedule_id="other")
    tamper(path, "UPDATE schedules SET wake_at = NULL WHERE uid = ?", forgotten.uid)

    async def forget() -> None:
        tamper(path, "DELETE FROM schedules WHERE uid = ?", forgotten.uid)

    looking = verify(Busy(scene, "ticks", forget, times=1), BEGINNING)  # type: ignore[arg-type]  # what is read

    found = [(found.schedule_id, found.findings) async for found in looking]

    assert found == [("forgotten", []), ("other", [])]


async def test_verify_accepts_a_paused_deleted_or_ended_schedule_without_wake_time(scene: Scene) -> None:
    await scene.schedule(every(60), schedule_id="paused")
    await scene.schedule(every(60), schedule_id="deleted")
    await scene.schedule(every(60, end_at=later(START, MINUTE)), schedule_id="over")
    await work(scene, 1)
    await scene.pause(paused=True, schedule_id=ScheduleId("paused"))
    await scene.storage.definitions.delete_schedules([ScheduleId("deleted")], at=scene.now)

    found = [found async for found in verify(scene.storage, BEGINNING)]

    assert [one.is_sound for one in found] == [True] * 3


@pytest.mark.proves("T12")
async def test_verify_accepts_runs_removed_by_retention(scene: Scene) -> None:
    await scene.schedule(every(60))
    await work(scene, 8)

    pruned = await scene.prune(retention(runs_per_job=3))

    assert pruned.runs == 5
    assert (await report(scene)).is_sound


async def test_verify_accepts_a_long_run_that_outlives_younger_ones(scene: Scene) -> None:
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    await scene.fire_after(MINUTE)
    [long_one] = await scene.claim()
    await work(scene, 5)
    scene.clock.advance(HOUR)
    await scene.finish(succeeded(long_one))

    pruned = await scene.prune(retention(runs_age=30 * MINUTE))

    assert pruned.runs == 5
    assert (await report(scene)).is_sound


async def test_verify_applies_retention_per_job_of_a_schedule(scene: Scene) -> None:
    await scene.schedule(every(60))
    await work(scene, 2)
    await scene.job("other")
    await scene.schedule(every(60, job_id="other"))
    await work(scene, 8)

    pruned = await scene.prune(retention(runs_per_job=3))

    assert pruned.runs == 5
    assert (await report(scene)).is_sound


async def test_verify_applies_retention_of_runs_and_executions_to_one_job(scene: Scene) -> None:
    """Fewer executions than runs are retained."""
    job = await scene.job()
    await scene.schedule(every(60))
    await work(scene, 3)
    await scene.job("child")
    await scene.storage.definitions.add_dependency(JobId("child"), job.id, ON_SUCCESS, at=scene.now)
    await work(scene, 4)

    pruned = await scene.prune(retention(runs_per_job=3))

    assert pruned.runs == 1
    assert (await report(scene)).is_sound


class Busy:
    """A storage that does something after a read, each time or the first few times."""

    def __init__(self, scene: Scene, verb: str, happens: Callable[[], Awaitable[object]], times: int = 100) -> None:
        self._storage = scene.storage
        self._verb = verb
        self._happens = happens
        self._left = times
        self.ledger = scene.storage.ledger
        self.queries = self

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        async def look(*which: Any, **more: Any) -> Any:
            found = await getattr(self._storage.queries, verb)(*which, **more)
            if verb == self._verb and self._left:
                self._left -= 1
                await self._happens()
            return found

        return look


class Reads:
    """A storage that notes which queries are read."""

    def __init__(self, scene: Scene) -> None:
        self._storage = scene.storage
        self.ledger = scene.storage.ledger
        self.queries = self
        self.verbs: list[str] = []

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        self.verbs.append(verb)
        read: Callable[..., Awaitable[Any]] = getattr(self._storage.queries, verb)
        return read
