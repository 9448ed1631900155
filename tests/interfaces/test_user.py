"""foliot user add, list, passwd and remove."""

import io
from pathlib import Path

import pytest

from tests.interfaces.conftest import Call

BOTH_WAYS = True

PASSWORD = "correct horse battery"


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The password on standard input."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))


@pytest.mark.usefixtures("given")
def test_a_user_is_added_listed_and_removed(call: Call, elsewhere: Path, actor: str) -> None:
    assert call("user", "add", "anna", "--role", "editor", "--password-stdin") == (0, "added anna (editor)\n", "")

    [listed] = call("user", "list", "--json").objects
    assert (listed["name"], listed["role"], listed["created_by"]) == ("anna", "editor", actor)
    assert "anna" in call("user", "list").out
    assert call("user", "remove", "anna") == (0, "removed anna\n", "")
    assert "no users" in call("user", "list").err
    assert PASSWORD not in call("audit", "--json").out


@pytest.mark.usefixtures("given")
def test_a_password_is_changed(call: Call, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call("user", "add", "anna", "--role", "viewer", "--password-stdin")
    monkeypatch.setattr("sys.stdin", io.StringIO("another password"))

    assert call("user", "passwd", "anna", "--password-stdin").code == 0
    assert [entry["action"] for entry in call("audit", "--json").objects] == ["password", "create"]


@pytest.mark.usefixtures("given")
def test_without_a_terminal_the_password_is_not_read_unless_asked_for(call: Call, elsewhere: Path) -> None:
    refused = call("user", "add", "anna", "--role", "viewer")

    assert refused.code == 2
    assert "--password-stdin" in refused.err


def test_a_short_password_and_a_missing_user_are_refused(
    call: Call, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("short"))
    refused = call("user", "add", "anna", "--role", "viewer", "--password-stdin")
    assert refused.code == 2
    assert "short" not in refused.err.replace("too short", "")
    call("migrate")
    assert call("user", "remove", "anna").code == 1
    assert call("user", "add", "anna", "--password-stdin").code == 2
