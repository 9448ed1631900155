"""foliot dsn add, list and remove."""

import io
from pathlib import Path

import pytest

from tests.adapters.storage.postgres.fresh import fresh_database
from tests.interfaces.conftest import Call

BOTH_WAYS = True

PASSWORD = "hunter2"
DSN = f"postgresql://anna:{PASSWORD}@db/shop"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FOLIOT_SECRET_KEY", "FOLIOT_SECRET_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The DSN on standard input."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{DSN}\n"))


@pytest.mark.usefixtures("given")
def test_a_dsn_is_read_from_standard_input_and_listed_without_its_text(call: Call, elsewhere: Path) -> None:
    assert call("dsn", "add", "main") == (0, "added main\n", "")

    listed = call("dsn", "list")
    assert listed.code == 0
    assert "main" in listed.out
    assert "postgresql" in listed.out
    assert PASSWORD not in listed.out


@pytest.mark.usefixtures("given")
@pytest.mark.proves("Z28")
def test_no_file_but_the_key_file_is_needed_and_none_contains_the_dsn(call: Call, elsewhere: Path) -> None:
    call("dsn", "add", "main")

    assert (elsewhere / "foliot.db-key").stat().st_mode & 0o777 == 0o600
    assert [path for path in elsewhere.iterdir() if path.is_file() and PASSWORD.encode() in path.read_bytes()] == []


def test_adding_again_replaces(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for done in ("added", "replaced"):
        monkeypatch.setattr("sys.stdin", io.StringIO(DSN))
        assert call("dsn", "add", "main", "--json").objects == [{"name": "main", "done": done}]

    [listed] = call("dsn", "list", "--json").objects
    assert (listed["name"], listed["engine"]) == ("main", "postgresql")
    assert listed["updated_at"].endswith("Z")


def test_a_terminal_is_asked_without_an_echo(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)

    def prompt(text: str, *, hide_input: bool, err: bool) -> str:
        asked.append((text, hide_input))
        return DSN

    monkeypatch.setattr("click.prompt", prompt)

    assert call("dsn", "add", "main").code == 0
    assert asked == [("DSN (not shown)", True)]


@pytest.mark.usefixtures("given")
def test_a_dsn_as_an_argument_is_refused_and_not_repeated(call: Call) -> None:
    called = call("dsn", "add", "main", DSN)

    assert called.code == 2
    assert "must not be an argument" in called.err
    assert PASSWORD not in called.err + called.out


@pytest.mark.usefixtures("given")
def test_a_dsn_as_the_name_is_refused_and_not_repeated(call: Call) -> None:
    called = call("dsn", "add", DSN)

    assert called.code == 2
    assert "not the name of a DSN" in called.err
    assert PASSWORD not in called.err + called.out


@pytest.mark.parametrize("text", ["", "\n", f"mysql://anna:{PASSWORD}@db/shop", "sqlite:///relative.db"])
def test_a_text_that_is_no_dsn_is_refused(call: Call, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))

    called = call("dsn", "add", "main")

    assert called.code == 2
    assert PASSWORD not in called.err


@pytest.mark.usefixtures("given")
def test_a_removed_dsn_is_gone(call: Call) -> None:
    call("dsn", "add", "main")

    assert call("dsn", "remove", "main") == (0, "removed main\n", "")
    assert call("dsn", "list").err == "no DSNs\n"
    again = call("dsn", "remove", "main")
    assert (again.code, "DSN 'main' does not exist" in again.err) == (1, True)


@pytest.mark.local
@pytest.mark.usefixtures("given")
def test_a_key_file_that_others_can_read_is_refused(call: Call, elsewhere: Path) -> None:
    (elsewhere / "foliot.db-key").touch(0o644)
    (elsewhere / "foliot.db-key").chmod(0o644)

    called = call("dsn", "add", "main")

    assert called.code == 1
    assert "chmod 600" in called.err


def test_a_database_on_a_server_needs_a_key_in_the_environment(call: Call, given: None) -> None:
    with fresh_database() as (server, name):
        called = call("dsn", "add", "main", "--storage", server.dsn(name))

    assert called.code == 1
    assert "FOLIOT_SECRET_KEY" in called.err
