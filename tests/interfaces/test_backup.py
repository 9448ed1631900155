"""foliot backup: a copy of the database."""

import re
from pathlib import Path

import pytest

from tests.interfaces.conftest import Call


def test_backup_prints_the_files_it_created(call: Call, shop: Path) -> None:
    code, out, err = call("backup", "saved.db")

    sizes = {name: (shop / name).stat().st_size for name in ("saved.db", "saved.db-logs")}
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"{name}  {size} bytes" for name, size in sizes.items()]


def test_backup_prints_its_files_as_json(call: Call, shop: Path) -> None:
    [done] = call("backup", "saved.db", "--json").objects

    assert done["storage"] == "sqlite:///foliot.db"
    assert [file["path"] for file in done["files"]] == ["saved.db", "saved.db-logs"]
    assert all(file["bytes"] > 4_096 for file in done["files"])


def test_commands_work_on_a_backup(call: Call, shop: Path) -> None:
    call("backup", "saved.db")

    there = ("--storage", "sqlite:///saved.db")
    assert call("runs", "--json", *there).objects == call("runs", "--json").objects
    assert call("logs", "broken@last", *there).out == "try\ntry\n"


@pytest.mark.usefixtures("worker")
def test_a_backup_works_while_a_server_runs(call: Call) -> None:
    assert call("backup", "saved.db").code == 0
    assert call("trigger", "report", "--wait").err == "success\n"


def test_a_backup_does_not_overwrite_a_file(call: Call, shop: Path) -> None:
    call("backup", "saved.db")

    code, out, err = call("backup", "saved.db")

    assert (code, out) == (2, "")
    assert err == "error: saved.db exists\n  Name another file: existing files are not overwritten.\n"


def test_a_backup_into_a_directory_is_named_after_the_database_and_the_time(call: Call, shop: Path) -> None:
    (shop / "saved").mkdir()

    code, out, err = call("backup", "saved")

    assert (code, err) == (0, "")
    names = [line.split()[0] for line in out.splitlines()]
    assert [re.sub(r"\d{8}T\d{6}Z", "TIME", name) for name in names] == [
        "saved/foliot-TIME.db",
        "saved/foliot-TIME.db-logs",
    ]
    assert len(call("runs", "--json", "--storage", f"sqlite:///{names[0]}").objects) == 4


def test_backing_up_postgresql_is_refused_with_a_hint(call: Call) -> None:
    code, out, err = call("backup", "saved.db", "--storage", "postgresql://me:hush@host/x")

    assert (code, out) == (2, "")
    assert "pg_dump" in err
    assert "hush" not in err


@pytest.mark.parametrize(("storage", "status"), [("sqlite:///none.db", 1), ("mysql://x", 2)])
def test_backing_up_a_missing_database_fails(call: Call, elsewhere: Path, storage: str, status: int) -> None:
    assert call("backup", "saved.db", "--storage", storage).code == status
    assert list(elsewhere.iterdir()) == []
