"""Copying both files of a database while it is used."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.sqlite import SqliteStorage, backup
from foliot.adapters.storage.sqlite.backup import _Copy, _snapshots, back_up
from foliot.adapters.storage.sqlite.database import connection
from foliot.errors import InvalidInput, StorageCorrupt, StorageMissing, StorageUnavailable
from foliot.ports.pages import RunFilter
from foliot.testing.builders import LEASE, a_chunk, a_run, a_worker
from tests.adapters.storage.sqlite.files import dump, names, opened, rights_of_others, rows


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "foliot.db"


@pytest.fixture
async def storage(source: Path) -> AsyncIterator[SqliteStorage]:
    """An open storage with a run that has output; all of it is in write-ahead logs."""
    async with opened(source) as storage:
        await print_something(storage)
        yield storage


async def print_something(storage: SqliteStorage) -> None:
    await storage.work.register(worker := a_worker(), LEASE)
    await storage.orders.create([a_run()])
    [claim] = (await storage.work.claim(worker.id, ["default"], 1)).claims
    await storage.work.append_log([a_chunk(claim)])


async def copy(source: Path, target: Path) -> list[Path]:
    return await back_up(f"sqlite:///{source}", target, lambda done, of: None)


@pytest.mark.usefixtures("storage")
async def test_a_backup_of_an_open_database_is_complete(tmp_path: Path, source: Path) -> None:
    made = await copy(source, target := tmp_path / "copy.db")

    assert made == [target, tmp_path / "copy.db-logs"]
    assert dump(target) == dump(source)
    assert dump(made[1]) == dump(Path(f"{source}-logs"))
    assert len(dump(made[1])["log_chunks"]) == 1


@pytest.mark.usefixtures("storage")
async def test_a_file_copy_of_an_open_database_is_not_a_backup(tmp_path: Path, source: Path) -> None:
    shutil.copy(source, tmp_path / "copy.db")

    assert rows(tmp_path / "copy.db", "SELECT count(*) FROM sqlite_schema") == [(0,)]


async def test_a_storage_opens_and_continues_on_a_backup(tmp_path: Path, source: Path, storage: SqliteStorage) -> None:
    await copy(source, tmp_path / "copy.db")
    await print_something(storage)

    async with opened(tmp_path / "copy.db") as restored:
        [run] = await restored.queries.page_runs(RunFilter())
        assert len(await restored.queries.read_log(run.id)) == 1
        await print_something(restored)


async def test_writes_during_a_backup_are_in_neither_copy(tmp_path: Path, source: Path, storage: SqliteStorage) -> None:
    files = [_Copy.of(file, tmp_path / "x") for file in (source, Path(f"{source}-logs"))]

    with _snapshots(files) as (main, logs):
        await print_something(storage)
        runs = main.execute("SELECT count(*) FROM runs").get
        chunks = logs.execute("SELECT count(*) FROM log_chunks").get

    assert (runs, chunks) == (1, 1)


@pytest.mark.usefixtures("storage")
async def test_both_copies_are_of_the_same_moment(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_MAX_WAITS", 1)
    somebody = apsw.Connection(str(source))
    somebody.execute("BEGIN IMMEDIATE")

    # The run may be claimed at this moment: it is not known which of its output belongs to the copy.
    with pytest.raises(StorageUnavailable, match="locked"):
        await copy(source, tmp_path / "copy.db")

    somebody.close()
    assert names(tmp_path).count("copy.db") == 0


@pytest.mark.usefixtures("storage")
async def test_writers_do_not_wait_for_a_backup(tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup, "_PAGES", 1)

    def write(done: int, of: int) -> None:
        somebody = apsw.Connection(str(source))
        somebody.execute("BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS meanwhile (x, y); COMMIT")
        somebody.close()

    await back_up(f"sqlite:///{source}", tmp_path / "copy.db", write)

    assert "meanwhile" in dump(source)
    assert "meanwhile" not in dump(tmp_path / "copy.db")


@pytest.mark.parametrize("name", ["copy.db", "copy.db-logs", "copy.db-wal", "copy.db-logs-wal"])
@pytest.mark.usefixtures("storage")
async def test_a_backup_refuses_existing_files(tmp_path: Path, source: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")

    with pytest.raises(InvalidInput, match="exists"):
        await copy(source, tmp_path / "copy.db")

    assert (tmp_path / name).read_text() == "mine"
    assert [file for file in names(tmp_path) if "copy" in file] == [name]


@pytest.mark.usefixtures("storage")
async def test_a_file_created_during_a_backup_is_not_overwritten(tmp_path: Path, source: Path) -> None:
    target = tmp_path / "copy.db"

    def write(done: int, of: int) -> None:
        target.write_text("mine")

    with pytest.raises(InvalidInput, match="exists"):
        await back_up(f"sqlite:///{source}", target, write)

    assert target.read_text() == "mine"
    assert [file for file in names(tmp_path) if "copy" in file] == ["copy.db"]


async def test_a_damaged_database_is_not_backed_up(tmp_path: Path, source: Path) -> None:
    async with opened(source) as storage:
        await print_something(storage)
    [(page,)] = rows(source, "SELECT rootpage FROM sqlite_schema WHERE name = 'runs'")
    with source.open("r+b") as file:
        os.pwrite(file.fileno(), b"\xa5" * 4_096, (page - 1) * 4_096)
    before = names(tmp_path)

    with pytest.raises(StorageCorrupt, match=r"foliot\.db is damaged"):
        await copy(source, tmp_path / "copy.db")

    assert names(tmp_path) == before


async def test_a_database_of_another_version_can_be_copied(tmp_path: Path, source: Path) -> None:
    async with opened(source):
        pass
    rows(source, "PRAGMA user_version = 1")

    assert await copy(source, tmp_path / "copy.db") == [tmp_path / "copy.db"]


async def test_a_missing_database_cannot_be_backed_up(tmp_path: Path, source: Path) -> None:
    with pytest.raises(StorageMissing):
        await copy(source, tmp_path / "copy.db")
    (empty := tmp_path / "empty.db").touch()
    with pytest.raises(StorageMissing):
        await copy(empty, tmp_path / "copy.db")
    rows(tmp_path / "photos.db", "CREATE TABLE photos (id)")
    with pytest.raises(StorageCorrupt, match="another program"):
        await copy(tmp_path / "photos.db", tmp_path / "copy.db")

    assert [file for file in names(tmp_path) if "copy" in file] == []


@pytest.mark.usefixtures("storage")
async def test_a_backup_is_readable_by_its_owner_only(tmp_path: Path, source: Path) -> None:
    await copy(source, tmp_path / "copy.db")

    assert {file: right for file, right in rights_of_others(tmp_path).items() if "copy" in file} == {
        "copy.db": 0,
        "copy.db-logs": 0,
    }


@pytest.mark.usefixtures("storage")
async def test_progress_ends_with_all_pages(tmp_path: Path, source: Path) -> None:
    seen: list[tuple[int, int]] = []

    await back_up(f"sqlite:///{source}", tmp_path / "copy.db", lambda done, of: seen.append((done, of)))

    assert len(seen) == 2
    assert all(done == of > 0 for done, of in seen)
