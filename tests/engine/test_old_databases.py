"""A database from before gates and workflows goes on as if they did not exist."""

import shutil
from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.sqlite import SqliteStorage, schema
from foliot.domain.instant import MINUTE
from foliot.domain.outcome import Failure, Reason, Success
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.ports.definitions import Deployment
from foliot.testing.builders import a_job_spec, every
from foliot.testing.clock import VirtualClock
from tests.engine.rig import Rig

NEW_TABLES = ("executions", "steps", "notes", "gated", "watched", "endings", "decisions", "workflows", "paused_steps")


async def opened(path: Path, clock: VirtualClock) -> Rig:
    return Rig(await SqliteStorage.open(path, clock=clock, inline=True, synchronous="NORMAL"), clock)


async def live(rig: Rig, minutes: int) -> list[tuple[object, ...]]:
    """Fire, work and fail for a while; what ran and what became of it."""
    for minute in range(minutes):
        rig.stage.answer = Failure("no", Reason.EXCEPTION) if minute % 3 == 2 else Success()
        await rig.fire(MINUTE)
        await rig.work_off(3)
    tick_of = [(run.tick and run.tick.scheduled_for, run.status, run.reason, run.attempt) for run in await rig.runs()]
    return [*tick_of, *await rig.outcomes((await rig.stored()).uid)]


def as_it_was(path: Path, old: Path, version: int = 1) -> None:
    """The same rows in the tables of the first version, or another one, with the columns that it had."""
    migrations = {number: schema.MAIN[number] for number in range(1, version + 1)}
    schema.open_file(old, migrations, synchronous="NORMAL", cache_kib=1_000).close()
    connection = apsw.Connection(str(old))
    connection.execute("ATTACH ? AS full", (str(path),))
    tables = connection.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    for (table,) in tables.fetchall():
        columns = ", ".join(name for _, name, *_ in connection.execute(f"PRAGMA main.table_info({table})"))
        connection.execute(f"DELETE FROM main.{table}")
        connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM full.{table}")
    connection.close()


@pytest.mark.proves("R0-02", "R2-62")
async def test_it_fires_and_runs_exactly_as_before(tmp_path: Path) -> None:
    before = await opened(tmp_path / "full.db", VirtualClock())
    await before.schedule(every(60))
    await live(before, 5)
    await before.storage.close()
    as_it_was(tmp_path / "full.db", tmp_path / "old.db")
    shutil.copy(tmp_path / "full.db", tmp_path / "new.db")

    lives = []
    for name in ("new.db", "old.db"):
        clock = VirtualClock()
        clock.advance(5 * MINUTE)
        rig = await opened(tmp_path / name, clock)
        lives.append(await live(rig, 10))
        await rig.storage.close()

    assert lives[0] == lives[1]
    assert len(lives[1]) > 20
    connection = apsw.Connection(str(tmp_path / "old.db"))
    assert [table for table in NEW_TABLES if connection.execute(f"SELECT 1 FROM {table}").fetchone()] == []
    connection.close()


async def listed(rig: Rig) -> list[object]:
    """All that people can list."""
    storage = rig.storage
    schedule = await rig.stored()
    jobs, workflows = await storage.jobs.page(), await storage.workflows.page()
    return [schedule, await rig.runs(), await rig.ticks(schedule.uid), jobs, workflows]


@pytest.mark.proves("R0-77")
@pytest.mark.parametrize("version", range(1, max(schema.MAIN)))
async def test_its_rows_are_listed_unchanged(tmp_path: Path, version: int) -> None:
    clock = VirtualClock()
    before = await opened(tmp_path / "full.db", clock)
    await before.schedule(every(60))
    await live(before, 5)
    if version > 1:
        spec = WorkflowSpec(steps=(Step(name="only", definition=a_job_spec()),))
        await before.storage.workflows.deploy(Deployment({"etl": spec}))
    rows = await listed(before)
    await before.storage.close()

    as_it_was(tmp_path / "full.db", tmp_path / "old.db", version)
    after = await opened(tmp_path / "old.db", clock)

    assert await listed(after) == rows
    await after.storage.close()
