"""A database without gates and workflows works as if they did not exist, and a later schema keeps its rows."""

from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.adapters.storage.sqlite.database import schema
from foliot.domain.instant import MINUTE
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.ports.definitions import Deployment
from foliot.testing.builders import a_job_spec, every
from foliot.testing.clock import VirtualClock
from tests.engine.rig import Rig

UNUSED_TABLES = (
    *("trees", "tree_bodies", "steps", "notes", "workflows", "paused_steps"),
    *("gated", "watched", "endings", "decisions"),
)
A_LATER_MIGRATION = "ALTER TABLE runs ADD COLUMN later TEXT; ALTER TABLE trees ADD COLUMN later INTEGER;"


async def opened(path: Path, clock: VirtualClock) -> Rig:
    return Rig(await SqliteStorage.open(path, clock=clock, inline=True, synchronous="NORMAL"), clock)


async def live(rig: Rig, minutes: int) -> None:
    """Fire schedules and execute runs for a while, some of which fail."""
    for minute in range(minutes):
        rig.stage.answer = Failure("no", Reason.EXCEPTION) if minute % 3 == 2 else Success()
        await rig.fire(MINUTE)
        await rig.work_off(3)
        await rig.settle()


async def listed(rig: Rig) -> Sequence[object]:
    """Return all rows that can be listed."""
    storage = rig.storage
    schedule = await rig.stored()
    jobs, workflows = await storage.definitions.page_jobs(), await storage.definitions.page_workflows()
    return [schedule, await rig.runs(), await rig.ticks(schedule.uid), jobs, workflows]


@pytest.mark.proves("R0-02", "R2-62")
async def test_without_gates_and_workflows_their_tables_stay_empty(tmp_path: Path) -> None:
    rig = await opened(tmp_path / "plain.db", VirtualClock())
    schedule = await rig.schedule(every(60))
    await live(rig, 10)
    outcomes, runs = await rig.outcomes(schedule.uid), await rig.runs()
    await rig.storage.close()

    assert (len(outcomes), len(runs)) == (10, 10)
    connection = apsw.Connection(str(tmp_path / "plain.db"))
    assert [table for table in UNUSED_TABLES if connection.execute(f"SELECT 1 FROM {table}").fetchone()] == []
    connection.close()


@pytest.mark.proves("R0-77")
async def test_rows_are_listed_unchanged_after_a_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = VirtualClock()
    before = await opened(tmp_path / "foliot.db", clock)
    await before.schedule(every(60))
    spec = WorkflowSpec(steps=(Step(name="only", definition=a_job_spec(kind="stage")),))
    await before.storage.definitions.deploy(Deployment({"etl": spec}))
    await before.enqueue("etl")
    await live(before, 5)
    rows = await listed(before)
    await before.storage.close()

    monkeypatch.setitem(schema.MAIN, max(schema.MAIN) + 1, A_LATER_MIGRATION)
    after = await opened(tmp_path / "foliot.db", clock)

    assert await listed(after) == rows
    await live(after, 5)
    assert [run.status for run in (await after.runs())[-5:]] == [*["success"] * 2, "failed", *["success"] * 2]
    await after.storage.close()
