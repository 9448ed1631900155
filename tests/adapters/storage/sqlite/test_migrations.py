"""Migrating an old file gives the schema of a new one."""

import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import apsw
import pytest

from foliot.adapters.storage.sqlite.database import schema
from tests.adapters.storage.sqlite.files import rows

A_LATER_ONE = "ALTER TABLE jobs ADD COLUMN owner TEXT; CREATE INDEX jobs_by_owner ON jobs (owner);"
SOME_DAY = {**schema.MAIN, max(schema.MAIN) + 1: A_LATER_ONE}
OPEN_IT = "import sys, pathlib; from foliot.adapters.storage.sqlite.database import schema; " + (
    "schema.open_file(pathlib.Path(sys.argv[1]), schema.MAIN, synchronous='FULL', cache_kib=1000)"
)


def migrate(path: Path, migrations: Mapping[int, str]) -> None:
    schema.open_file(path, migrations, synchronous="NORMAL", cache_kib=1_000).close()


def schema_of(path: Path) -> list[tuple[Any, ...]]:
    return rows(path, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")


@pytest.mark.proves("M2")
@pytest.mark.parametrize("migrations", [schema.MAIN, schema.LOGS, SOME_DAY], ids=["main", "logs", "some day"])
def test_migrating_step_by_step_gives_the_schema_of_a_new_file(tmp_path: Path, migrations: Mapping[int, str]) -> None:
    for number in migrations:
        migrate(tmp_path / "old.db", {known: migrations[known] for known in migrations if known <= number})
    migrate(tmp_path / "new.db", migrations)

    assert schema_of(tmp_path / "old.db") == schema_of(tmp_path / "new.db")
    assert rows(tmp_path / "old.db", "PRAGMA user_version") == [(max(migrations),)]


@pytest.mark.parametrize("migrations", [schema.MAIN, schema.LOGS])
def test_migrations_are_numbered_without_a_gap(migrations: Mapping[int, str]) -> None:
    assert list(migrations) == list(range(1, len(migrations) + 1))


@pytest.mark.proves("M2")
def test_a_failed_migration_is_rolled_back(tmp_path: Path) -> None:
    path = tmp_path / "foliot.db"
    migrate(path, schema.MAIN)
    before = schema_of(path)

    with pytest.raises(Exception, match="no such table"):
        migrate(path, {**schema.MAIN, max(schema.MAIN) + 1: A_LATER_ONE + "DROP TABLE nowhere;"})

    assert schema_of(path) == before
    assert rows(path, "PRAGMA user_version") == [(max(schema.MAIN),)]


@pytest.mark.proves("M2")
def test_processes_that_start_together_migrate_once(tmp_path: Path) -> None:
    path = tmp_path / "foliot.db"

    starters = [Popen([sys.executable, "-c", OPEN_IT, path], stderr=PIPE, text=True) for _ in range(6)]
    complaints = [starter.communicate()[1] for starter in starters]

    migrate(tmp_path / "alone.db", schema.MAIN)
    assert complaints == [""] * 6
    assert schema_of(path) == schema_of(tmp_path / "alone.db")


@pytest.mark.proves("M4")
def test_a_process_waits_while_another_changes_the_journal_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "foliot.db"
    path.touch()
    other = apsw.Connection(str(path))
    other.execute("BEGIN EXCLUSIVE")
    naps: list[int] = []

    def wait(asked: int) -> bool:
        naps.append(asked)
        if len(naps) == 3:
            other.execute("COMMIT")
        return True

    monkeypatch.setattr(schema, "wait_for_lock", wait)
    connection = apsw.Connection(str(path))
    schema._use_write_ahead_log(connection, path)

    assert (naps, connection.pragma("journal_mode")) == ([0, 1, 2], "wal")


@pytest.mark.proves("T1")
def test_the_schema_makes_ticks_unique(tmp_path: Path) -> None:
    migrate(tmp_path / "foliot.db", schema.MAIN)

    keys = rows(tmp_path / "foliot.db", "SELECT name FROM pragma_table_info('ticks') WHERE pk > 0 ORDER BY pk")

    assert keys == [("uid",), ("scheduled_for",)]


@pytest.mark.proves("M5")
def test_every_time_column_is_an_integer(tmp_path: Path) -> None:
    migrate(tmp_path / "foliot.db", schema.MAIN)

    kinds = rows(
        tmp_path / "foliot.db",
        "SELECT DISTINCT c.type FROM sqlite_schema t, pragma_table_info(t.name) c "
        "WHERE t.type = 'table' AND (c.name LIKE '%\\_at' ESCAPE '\\' OR c.name IN ('scheduled_for', 'until'))",
    )

    assert kinds == [("INTEGER",)]
