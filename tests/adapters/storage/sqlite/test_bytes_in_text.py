"""SQLite stores text that is not UTF-8, and no read fails because of it."""

from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.adapters.storage.sqlite.database.session import Session
from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE, Instant
from foliot.errors import RowUnreadable
from foliot.ports.pages import RunFilter
from foliot.service.queries.verify import verify, verify_rows
from foliot.testing.builders import REPORT, every
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.conformance.storage.tree_builders import opened
from foliot.testing.conformance.storage.workflows import a_workflow

BAD = "CAST(x'7aff' AS TEXT)"
"""Sorts last in every list, so that a page ends with it."""
DOCUMENTS = {
    *("jobs.spec", "schedules.spec", "revisions.spec", "workflows.spec", "trees.held", "trees.progress"),
    *("runs.limits", "steps.blockers", "workers.queues", "events.items"),
}
CONSTRAINED = {"ticks.outcome", "runs.status", "runs.parent_id", "runs.root_id", "steps.result", "workers.orders"}
"""Columns with a closed list of values, or whose value depends on another column."""


@pytest.fixture
def session() -> Session:
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE TABLE t (n, a); INSERT INTO t VALUES (3, 'ö'), (1, {BAD}), (2, x'7aff'), (0, NULL)")
    return Session(connection)


@pytest.mark.parametrize("values", [(0,), {"least": 0}])
def test_bytes_that_are_not_text_are_escaped_and_all_other_values_unchanged(
    session: Session, values: tuple[int] | dict[str, int]
) -> None:
    sql = "SELECT n, a, n + 0.5 FROM t WHERE n >= ? ORDER BY n"

    rows = session.rows(sql if isinstance(values, tuple) else sql.replace("?", ":least"), values)

    assert rows == [(0, None, 0.5), (1, "z\\xff", 1.5), (2, b"z\xff", 2.5), (3, "ö", 3.5)]


def test_bytes_are_escaped_in_a_single_row_and_a_single_value(session: Session) -> None:
    assert session.row("SELECT a, n FROM t WHERE n = 1") == ("z\\xff", 1)
    assert session.value("WITH x AS (SELECT a FROM t WHERE n = 1) SELECT a FROM x") == "z\\xff"


async def a_scene(path: Path) -> Scene:
    clock = VirtualClock()
    storage = await SqliteStorage.open(path, clock=clock, inline=True, synchronous="NORMAL")
    scene = Scene(storage, clock)
    await scene.schedule(every(60))
    await scene.schedule(every(60, job_id=JobId("sound")), schedule_id="sound")
    await storage.definitions.put_workflows({name: a_workflow("only") for name in ("a", "b")}, at=scene.now)
    await opened(scene, held=("job:etl",), progress=b"{}", deadline=scene.now)
    await scene.fire_after(MINUTE)
    return scene


def columns_of_text(path: Path) -> list[tuple[str, str]]:
    connection = apsw.Connection(str(path))
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return [
        (table, column)
        for table in tables
        for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({table})")
        if kind == "TEXT" and connection.execute(f"SELECT 1 FROM {table}").fetchone()
    ]


def spoil(path: Path, table: str, column: str) -> bool:
    """Write invalid text into one row. Returns whether the table accepts it."""
    connection = apsw.Connection(str(path))
    try:
        keys = ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5]) or "rowid"
        one = f"({keys}) = (SELECT {keys} FROM {table} LIMIT 1)"
        connection.execute(f"UPDATE {table} SET {column} = {BAD} WHERE {one}")
        assert connection.changes() == 1
    except apsw.ConstraintError:
        return False
    finally:
        connection.close()
    return True


async def test_invalid_text_in_any_column_does_not_break_reads(tmp_path: Path) -> None:
    await (await a_scene(tmp_path / "first.db")).storage.close()
    columns = {*columns_of_text(tmp_path / "first.db")} - {("counters", "name")}
    spoiled: set[str] = set()
    for table, column in columns:
        scene = await a_scene(tmp_path / f"{table}.{column}.db")
        if spoil(tmp_path / f"{table}.{column}.db", table, column):
            await read_everything(scene)
            spoiled.add(f"{table}.{column}")
        await scene.storage.close()

    assert spoiled >= DOCUMENTS
    assert {f"{table}.{column}" for table, column in columns} - spoiled == CONSTRAINED


async def read_everything(scene: Scene) -> None:
    """Execute the reads of duties and lists."""
    storage = scene.storage
    await scene.fire_after(MINUTE)
    await scene.release()
    await scene.claim()
    await storage.trees.unsettled(10, notes_per_tree=10, at=scene.now)
    await storage.admission.gated(10, at=scene.now)
    assert await storage.queries.page_runs(RunFilter())
    assert len(await storage.definitions.page_schedules()) + len(await storage.queries.active_executions()) >= 2
    await storage.admission.workers()
    [_ async for _ in verify(storage, Instant(0))]
    [_ async for _ in verify_rows(storage, Instant(0))]


async def test_a_document_with_invalid_text_is_an_unreadable_row(tmp_path: Path) -> None:
    scene = await a_scene(tmp_path / "foliot.db")
    connection = apsw.Connection(str(tmp_path / "foliot.db"))
    connection.execute(f"UPDATE jobs SET spec = {BAD} WHERE id = '{REPORT}'")
    connection.close()

    for names in ([REPORT], [REPORT, JobId("sound")]):
        with pytest.raises(RowUnreadable, match=f"the row of job '{REPORT}' cannot be read"):
            await scene.storage.definitions.get_jobs(names)
    await scene.storage.close()
