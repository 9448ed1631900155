"""foliot token create, list and revoke."""

from pathlib import Path

import pytest

from tests.interfaces.conftest import Call

BOTH_WAYS = True


def test_the_token_alone_is_printed_to_standard_output(call: Call, elsewhere: Path) -> None:
    done = call("token", "create", "--role", "admin", "--name", "deploy")

    assert done.code == 0
    assert done.out.startswith("fol_")
    assert len(done.out.splitlines()) == 1
    assert 'token "deploy" (admin)' in done.err


@pytest.mark.proves("Z7")
def test_a_token_is_listed_without_its_text_and_revoked(call: Call, elsewhere: Path, actor: str) -> None:
    [created] = call("token", "create", "--role", "viewer", "--name", "ci", "--expires", "90d", "--json").objects

    listed = call("token", "list", "--json").objects
    assert [(one["name"], one["role"], one["state"], one["created_by"]) for one in listed] == [
        ("ci", "viewer", "active", actor)
    ]
    assert listed[0]["expires_at"]
    assert created["token"] not in call("token", "list").out + call("audit", "--json").out
    assert call("token", "revoke", "ci") == (0, "revoked ci\n", "")
    assert "no tokens" in call("token", "list").err
    assert [one["state"] for one in call("token", "list", "--revoked", "--json").objects] == ["revoked"]
    assert [one["action"] for one in call("audit", "--id", "ci", "--json").objects] == ["revoke", "create"]


def test_a_trigger_token_names_its_job(call: Call, elsewhere: Path) -> None:
    (elsewhere / "foliot.toml").write_text('[[jobs]]\nid = "report"\ncommand = "true"\n')
    call("reload")

    [created] = call("token", "create", "--job", "report", "--json").objects
    assert (created["role"], created["scopes"]) == (None, ["trigger:report"])
    assert "trigger:report" in call("token", "list").out


def test_wrong_arguments_are_refused(call: Call, elsewhere: Path) -> None:
    call("token", "create", "--role", "admin", "--name", "a")

    assert call("token", "create").code == 2
    assert call("token", "create", "--role", "admin", "--job", "x").code == 2
    assert call("token", "create", "--role", "root").code == 2
    assert call("token", "create", "--role", "admin", "--name", "a").code == 2
    assert call("token", "create", "--role", "admin", "--name", "a b").code == 2
    assert call("token", "create", "--role", "admin", "--expires", "yesterday").code == 2
    assert call("token", "create", "--job", "missing").code == 1
    assert call("token", "revoke", "missing").code == 1
