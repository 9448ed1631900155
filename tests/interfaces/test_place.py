"""Which commands use a server, when, and what they say if they cannot."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot.errors import ServerUnavailable
from foliot.interfaces.cli import outage
from tests.interfaces.api.serving import RoleAccess
from tests.interfaces.both_ways import database_of, served_api
from tests.interfaces.commands import all_commands, command_of
from tests.interfaces.conftest import Call

NEED_DATABASE = {"backup", "migrate", "plan", "reload", "serve", "worker", "demo"}
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
def server(shop: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server on the database of the shop; the current directory has no database."""
    monkeypatch.chdir(tmp_path_factory.mktemp("client"))
    with served_api(database_of(shop)) as url:
        yield url


def test_the_option_and_the_variable_name_a_server(
    call: Call, server: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = call("runs", "--storage", database_of(shop))

    assert call("runs", "--url", server) == local
    monkeypatch.setenv("FOLIOT_URL", f"{server}/")
    assert call("runs") == local
    assert [*Path.cwd().iterdir()] == []


def test_an_option_for_the_database_has_precedence_over_the_variable(
    call: Call, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLIOT_URL", NOWHERE)

    assert call("runs", "--storage", database_of(shop)).code == 0
    assert "could not be reached" in call("runs").err


@pytest.mark.parametrize("option", [("--storage", "sqlite:///foliot.db"), ("--config", "foliot.toml")])
def test_a_server_and_a_database_are_mutually_exclusive(call: Call, option: tuple[str, str]) -> None:
    refused = call("runs", "--url", NOWHERE, *option)

    assert (refused.code, refused.out) == (2, "")
    assert f"--url and {option[0]} are mutually exclusive" in refused.err


@pytest.mark.parametrize("command", ["migrate", "backup copy.db", "plan", "reload", "serve"])
def test_a_command_that_needs_the_database_refuses_a_server(
    call: Call, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLIOT_URL", NOWHERE)

    refused = call(*command.split())

    assert (refused.code, refused.out) == (2, "")
    assert f"foliot {command.removesuffix(' copy.db')} needs the database, but FOLIOT_URL names a server" in refused.err
    assert "unset FOLIOT_URL" in refused.err


def test_commands_without_a_database_ignore_the_server(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_URL", NOWHERE)

    assert [call(*words.split()).code for words in ("init", "check", "next @daily", "routes")] == [0, 0, 0, 0]


def test_every_command_on_a_database_takes_a_server_or_refuses_it() -> None:
    named = {name: {option for one in command_of(name).params for option in one.opts} for name in all_commands()}
    without = {name for name, options in named.items() if "--storage" in options and "--url" not in options}

    assert {name for name in without if name.split()[0] not in NEED_DATABASE} == set()


def test_status_is_down_if_the_server_cannot_be_reached(call: Call) -> None:
    down = call("status", "--url", NOWHERE)

    assert down.code == 2
    assert f"down: the server at {NOWHERE} could not be reached" in down.out


def test_an_address_that_is_no_url_is_refused(call: Call) -> None:
    refused = call("jobs", "--url", "example.org")

    assert (refused.code, refused.err.splitlines()[0]) == (2, "error: the address of the server is not a URL")


def test_a_refused_token_is_explained(call: Call, server: str, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_TOKEN", "fol_x")
    with served_api(database_of(shop), RoleAccess()) as guarded:
        refused = call("jobs", "--url", guarded)

    assert refused.code == 1
    assert "Set FOLIOT_TOKEN to a valid token" in refused.err


async def test_an_outage_of_the_server_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(outage, "_RETRY_AFTER", 0)

    await outage.wait_out(ServerUnavailable("the server is away"))

    assert capsys.readouterr().err == "foliot: the server is away; trying again\n"
