"""A process whose file was deleted or replaced reports it, and saves nothing."""

import shutil
from pathlib import Path

import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.errors import StorageGone
from foliot.testing.builders import a_run


@pytest.fixture
def file(storage: SqliteStorage, tmp_path: Path) -> Path:
    return tmp_path / "foliot.db"


def delete(file: Path) -> None:
    file.unlink()


def replace(file: Path) -> None:
    Path(shutil.copy(file, file.with_name("copy.db"))).replace(file)


def move(file: Path, to: Path) -> Path:
    return file.rename(to)


@pytest.mark.proves("M3")
async def test_nothing_is_saved_in_a_file_that_was_deleted(storage: SqliteStorage, file: Path) -> None:
    await storage.orders.create([a_run()])
    delete(file)

    with pytest.raises(StorageGone, match="was deleted"):
        await storage.orders.create([a_run()])


@pytest.mark.proves("M3")
async def test_nothing_is_saved_in_a_file_that_was_replaced(storage: SqliteStorage, file: Path) -> None:
    await storage.orders.create([a_run()])
    replace(file)

    with pytest.raises(StorageGone, match="was replaced"):
        await storage.orders.create([a_run()])


async def test_an_idle_process_detects_a_deleted_file_on_check(storage: SqliteStorage, file: Path) -> None:
    await storage.upkeep.check()
    delete(file)

    with pytest.raises(StorageGone):
        await storage.upkeep.check()


async def test_a_file_that_was_moved_back_is_accepted(storage: SqliteStorage, file: Path) -> None:
    await storage.orders.create([a_run()])
    aside = move(file, file.with_name("aside"))
    with pytest.raises(StorageGone):
        await storage.orders.create([a_run()])
    move(aside, file)

    run = a_run()
    await storage.orders.create([run])

    assert list(await storage.queries.get_runs([run.id])) == [run.id]
