"""The fast path for firings writes the same rows as the general path."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from foliot.adapters.storage.shared.ledger import is_punctual
from foliot.adapters.storage.sqlite import SqliteStorage, ledger
from foliot.domain.instant import MINUTE
from foliot.domain.run.run import Status
from foliot.domain.schedule.firing import Firing
from foliot.domain.schedule.tick import TickReason
from foliot.ports.definitions import NewSchedule
from foliot.testing.builders import REPORT, a_job_spec, a_run, a_schedule, every
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene

TABLES = ("schedules", "ticks", "runs", "ready", "later", "holds", "planned", "events")


@pytest.fixture
async def storages(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[list[SqliteStorage]]:
    """Two storages: one for the fast path, one for the general path."""
    paths = [tmp_path / name for name in ("short.db", "long.db")]
    opened = [await SqliteStorage.open(path, clock=clock, inline=True, synchronous="NORMAL") for path in paths]
    yield opened
    for storage in opened:
        await storage.close()


@pytest.fixture
def scenes(storages: list[SqliteStorage], clock: VirtualClock) -> list[Scene]:
    return [Scene(storage, clock) for storage in storages]


def rows(tmp_path: Path, name: str, table: str) -> list[Any]:
    return apsw.Connection(str(tmp_path / name)).execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()


async def due(scenes: list[Scene], schedules: list[NewSchedule]) -> list[Firing]:
    """Create equal schedules in both storages, and return their firings a minute later."""
    job = a_job_spec(payload_template={"a": 'b"\\'}, queue="slow", priority=3)
    for scene in scenes:
        await scene.storage.definitions.put_jobs([(REPORT, job)], at=scene.now)
        await scene.storage.definitions.put_schedules(schedules, at=scene.now)
        await scene.create(a_run(id="OLDER"))
    scenes[0].clock.advance(MINUTE)
    return await scenes[0].decide()


@pytest.mark.proves("T5")
async def test_both_paths_write_the_same_rows_and_events(
    scenes: list[Scene], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedules = [a_schedule(every(60, payload=n % 2 or None), schedule_id=f"s{n}") for n in range(6)]
    firings = await due(scenes, schedules)
    for firing in firings[::3]:
        firing.ticks = [tick._replace(reason=TickReason.CAUGHT_UP) for tick in firing.ticks]
    for firing in firings[1::3]:
        firing.ticks = [tick._replace(revision=2) for tick in firing.ticks]
    assert all(map(is_punctual, firings))

    short = await scenes[0].settle(*firings)
    monkeypatch.setattr(ledger, "save_punctual", ledger.save_any)
    long = await scenes[1].settle(*firings)

    assert short == long == [firing.uid for firing in firings]
    for table in TABLES:
        assert rows(tmp_path, "short.db", table) == rows(tmp_path, "long.db", table), table


@pytest.mark.proves("T7")
async def test_a_run_that_is_not_due_yet_takes_the_general_path(scenes: list[Scene]) -> None:
    scene = scenes[0]
    [firing] = await due([scene], [a_schedule(every(60))])
    scene.clock.step(-MINUTE)

    await scene.settle(firing)

    assert await scene.status(firing.runs[0].id) is Status.SCHEDULED
    assert await scene.ready() == ["OLDER"]


@pytest.mark.proves("T5")
async def test_a_run_that_exists_refuses_only_its_own_firing(scenes: list[Scene]) -> None:
    scene = scenes[0]
    firings = await due([scene], [a_schedule(every(60), schedule_id=name) for name in ("a", "b", "c")])
    await scene.create(a_run(id=firings[1].runs[0].id))

    saved = await scene.settle(*firings)

    assert saved == [firings[0].uid, firings[2].uid]
    assert await scene.ticks(firings[1].uid) == []
