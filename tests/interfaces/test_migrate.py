"""foliot migrate: create the database or bring it up to date."""

from pathlib import Path

import apsw

from tests.interfaces.conftest import Call


def test_migrate_creates_a_missing_database(call: Call, elsewhere: Path) -> None:
    assert call("migrate") == (0, "sqlite:///foliot.db is up to date\n", "")
    assert (elsewhere / "foliot.db").exists()
    assert call("runs") == (0, "", "no runs\n")


def test_migrating_twice_is_a_no_op(call: Call, shop: Path) -> None:
    assert call("migrate", "--json").objects == [{"storage": "sqlite:///foliot.db", "is_current": True}]
    assert len(call("runs", "--json").objects) == 4


def test_migrate_leaves_a_newer_database_unchanged(call: Call, shop: Path) -> None:
    connection = apsw.Connection("foliot.db")
    connection.pragma("user_version", 9_999)
    connection.close()

    for command in ("migrate", "runs", "top"):
        code, out, err = call(command)
        assert (code, out) == (1, "")
        assert err.startswith("error: the database has schema version 9999")


def test_migrate_does_not_print_a_password(call: Call) -> None:
    code, out, err = call("migrate", "--storage", "postgresql://me:hush@localhost:1/x?password=hush")

    assert code == 1
    assert "hush" not in out + err
