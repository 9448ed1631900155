"""foliot migrate: the database, created or brought up to date."""

from pathlib import Path

import apsw

from tests.interfaces.conftest import Call


def test_a_database_that_is_not_there_is_created(call: Call, elsewhere: Path) -> None:
    assert call("migrate") == (0, "sqlite:///foliot.db is up to date\n", "")
    assert (elsewhere / "foliot.db").exists()
    assert call("runs") == (0, "", "no runs\n")


def test_doing_it_again_changes_nothing(call: Call, shop: Path) -> None:
    assert call("migrate", "--json").objects == [{"storage": "sqlite:///foliot.db", "is_current": True}]
    assert len(call("runs", "--json").objects) == 4


def test_a_database_of_a_later_version_is_left_alone(call: Call, shop: Path) -> None:
    connection = apsw.Connection("foliot.db")
    connection.pragma("user_version", 9_999)
    connection.close()

    for command in ("migrate", "runs", "top"):
        code, out, err = call(command)
        assert (code, out) == (1, "")
        assert err.startswith("error: the database has schema version 9999")


def test_a_password_is_not_printed(call: Call) -> None:
    code, out, err = call("migrate", "--storage", "postgresql://me:hush@localhost:1/x?password=hush")

    assert code == 1
    assert "hush" not in out + err
