"""`verify` finds what is wrong with a ledger, and calls nothing wrong that is not."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.audit import Fault
from foliot.domain.ids import RunId, ScheduleId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, later
from foliot.domain.schedule import Catchup, Overlap
from foliot.domain.tick import TickRecord
from foliot.ports.schedules import Ledger
from foliot.service import verify as verifying
from foliot.service.verify import Report, verify
from foliot.testing.builders import every, retention, succeeded
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
    """Fire each minute, and finish every run before the next one."""
    done: list[RunId] = []
    for _ in range(rounds):
        done += await scene.fire_after(MINUTE)
        await scene.finish(*[succeeded(claim) for claim in await scene.claim()])
    return done


def tamper(path: Path, sql: str, *values: object) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql, values)
    assert connection.changes() == 1
    connection.close()


# -- where the look begins


@pytest.mark.proves("T5")
@pytest.mark.parametrize("offset", [-MINUTE, -1, 0, 1, 30 * SECOND, MINUTE])
async def test_an_outage_is_sound_from_wherever_in_it_one_looks(scene: Scene, offset: int) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(10 * HOUR)
    await scene.fire_after(MINUTE)

    found = await report(scene, since=Instant(scene.now - 2 * HOUR + offset))

    assert found.is_sound
    assert found.ticks == 10 * 60 + 1


@pytest.mark.parametrize("offset", [-1, 0, 1])
async def test_an_outage_is_sound_from_its_first_moment(scene: Scene, offset: int) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(10 * HOUR)

    found = await report(scene, since=later(START, MINUTE + offset))

    assert (found.is_sound, found.ticks) == (True, 10 * 60)


async def test_an_outage_is_sound_where_retention_cut_into_it(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(10 * HOUR)
    tamper(path, "UPDATE schedules SET ledger_from = ?", later(START, HOUR))

    assert (await report(scene)).is_sound


async def test_what_is_older_than_asked_for_is_not_looked_at(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    await work(scene, 6)
    tamper(path, "DELETE FROM ticks WHERE scheduled_for = ?", later(START, 2 * MINUTE))

    assert not (await report(scene)).is_sound
    assert (await report(scene, since=later(START, 3 * MINUTE))).ticks == 3
    assert (await report(scene, since=later(START, 3 * MINUTE))).is_sound


async def test_a_ledger_is_read_page_by_page_and_every_row_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "_ROWS", 2)
    await scene.schedule(every(60))
    await scene.fire_after(HOUR)
    await work(scene, 5)

    found = await report(scene, since=later(START, 30 * MINUTE))

    assert (found.is_sound, found.ticks) == (True, 65)


# -- what is wrong


@pytest.mark.proves("T2")
async def test_a_tick_that_was_removed_is_found(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    await work(scene, 5)
    tamper(path, "DELETE FROM ticks WHERE scheduled_for = ?", later(START, 3 * MINUTE))

    [finding] = (await report(scene)).findings

    assert (finding.fault, finding.count) == (Fault.MISSING, 1)


@pytest.mark.proves("T3")
async def test_a_second_row_for_a_moment_is_found(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    await work(scene, 5)
    third = later(START, 3 * MINUTE)
    copy(path, third, first=third - 1, last=third)

    faults = [finding.fault for finding in (await report(scene)).findings]

    assert faults == [Fault.DOUBLED]


@pytest.mark.proves("T3")
async def test_a_row_for_a_moment_that_was_never_planned_is_found(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    await work(scene, 5)
    third = later(START, 3 * MINUTE)
    copy(path, third, first=third + 10 * SECOND, last=third + 20 * SECOND)

    faults = [finding.fault for finding in (await report(scene)).findings]

    assert faults == [Fault.INVENTED]


async def test_a_run_that_vanished_from_among_the_others_is_found(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60))
    runs = await work(scene, 5)
    tamper(path, "DELETE FROM runs WHERE id = ?", runs[2])

    found = await report(scene)

    assert (found.findings, found.runs_missing) == ([], [runs[2]])


@pytest.mark.proves("T1")
async def test_two_ticks_that_share_one_run_are_found(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60))
    runs = await work(scene, 5)
    tamper(path, "UPDATE ticks SET run_id = ? WHERE run_id = ?", runs[1], runs[3])

    [finding] = (await report(scene)).findings

    assert (finding.fault, finding.last) == (Fault.SHARED_RUN, later(START, 4 * MINUTE))


@pytest.mark.proves("T1")
async def test_a_coalesced_tick_that_leads_nowhere_is_found(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60, catchup=Catchup.ONCE))
    await scene.fire_after(HOUR)
    assert (await report(scene)).is_sound
    tamper(path, "UPDATE ticks SET into_tick = into_tick + 1000 WHERE outcome = 'coalesced'")

    [finding] = (await report(scene)).findings

    assert (finding.fault, finding.count) == (Fault.LEADS_NOWHERE, 59)


@pytest.mark.proves("T3")
async def test_a_row_beyond_the_watermark_is_found(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60))
    await work(scene, 5)
    copy(path, later(START, 3 * MINUTE), first=later(START, 6 * MINUTE), last=later(START, 6 * MINUTE) + 1)

    [finding] = (await report(scene)).findings

    assert (finding.fault, finding.first) == (Fault.BEYOND_WATERMARK, later(START, 6 * MINUTE))


async def test_a_tick_that_is_settled_while_one_looks_is_not_beyond_the_watermark(scene: Scene) -> None:
    await scene.schedule(every(60))
    await work(scene, 3)
    looking = verify(Hurried(scene), BEGINNING)  # type: ignore[arg-type]  # only the part that is read

    [found] = [found async for found in looking]

    assert found.is_sound


@pytest.mark.proves("T2")
async def test_a_schedule_that_nothing_will_wake_is_found(scene: Scene, path: Path) -> None:
    await scene.schedule(every(60))
    await work(scene, 2)
    tamper(path, "UPDATE schedules SET wake_at = NULL")

    [finding] = (await report(scene)).findings

    assert (finding.fault, finding.first) == (Fault.ASLEEP, later(START, 3 * MINUTE))


# -- what is not wrong


async def test_a_schedule_that_is_paused_deleted_or_over_may_sleep(scene: Scene) -> None:
    await scene.schedule(every(60), schedule_id="paused")
    await scene.schedule(every(60), schedule_id="deleted")
    await scene.schedule(every(60, end_at=later(START, MINUTE)), schedule_id="over")
    await work(scene, 1)
    await scene.pause(paused=True, schedule_id=ScheduleId("paused"))
    await scene.storage.schedules.delete([ScheduleId("deleted")], at=scene.now)

    found = [found async for found in verify(scene.storage, BEGINNING)]

    assert [one.is_sound for one in found] == [True] * 3


@pytest.mark.proves("T12")
async def test_runs_that_retention_took_are_not_missing(scene: Scene) -> None:
    await scene.schedule(every(60))
    await work(scene, 8)

    pruned = await scene.prune(retention(runs_per_job=3))

    assert pruned.runs == 5
    assert (await report(scene)).is_sound


async def test_a_run_that_took_long_may_outlive_younger_ones(scene: Scene) -> None:
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    await scene.fire_after(MINUTE)
    [long_one] = await scene.claim()
    await work(scene, 5)
    scene.clock.advance(HOUR)
    await scene.finish(succeeded(long_one))

    pruned = await scene.prune(retention(runs_age=30 * MINUTE))

    assert pruned.runs == 5
    assert (await report(scene)).is_sound


async def test_each_job_of_a_schedule_keeps_its_own_number_of_runs(scene: Scene) -> None:
    await scene.schedule(every(60))
    await work(scene, 2)
    await scene.job("other")
    await scene.schedule(every(60, job_id="other"))
    await work(scene, 8)

    pruned = await scene.prune(retention(runs_per_job=3))

    assert pruned.runs == 5
    assert (await report(scene)).is_sound


class Hurried:
    """A storage on which a schedule fires between the look at its watermark and the look at its ticks."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.runs = scene.storage.runs
        self.schedules = self

    async def ledgers(self, **which: Any) -> list[Ledger]:
        found = await self._scene.storage.schedules.ledgers(**which)
        await work(self._scene, 1)
        return found

    async def ticks(self, *which: Any, **more: Any) -> list[TickRecord]:
        return await self._scene.storage.schedules.ticks(*which, **more)


def copy(path: Path, scheduled_for: Instant, *, first: int, last: int) -> None:
    """Write a tick once more, as a range."""
    tamper(
        path,
        "INSERT INTO ticks SELECT uid, ?, ?, 1, 'skipped', 'overlap', fire_at, revision, NULL, NULL, NULL, decided_at"
        " FROM ticks WHERE scheduled_for = ?",
        first,
        last,
        scheduled_for,
    )
