"""The database that a command opens."""

from pathlib import Path

import pytest

from foliot.interfaces.cli.open_storage import storage_url
from tests.interfaces.conftest import Call


def write(path: Path, storage: str) -> Path:
    path.write_text(f'[storage]\nurl = "sqlite:///{storage}"\n')
    return path


@pytest.mark.parametrize("command", ["runs", "check", "plan", "serve", "worker", "migrate"])
def test_a_deleted_working_directory_is_a_clear_error(elsewhere: Path, call: Call, command: str) -> None:
    elsewhere.rmdir()

    called = call(command)

    assert called.code == 1
    assert "the current directory" in called.err
    assert "Traceback" not in called.err


def test_the_default_storage_is_a_file_in_this_directory() -> None:
    assert storage_url(None, None) == "sqlite:///foliot.db"


def test_the_configuration_in_this_directory_names_the_storage(elsewhere: Path) -> None:
    write(elsewhere / "foliot.toml", "here.db")

    assert storage_url(None, None).endswith("here.db")


def test_a_given_configuration_overrides_the_one_in_this_directory(elsewhere: Path) -> None:
    write(elsewhere / "foliot.toml", "here.db")

    assert storage_url(None, write(elsewhere / "other.toml", "there.db")).endswith("there.db")


def test_a_given_storage_overrides_every_configuration(elsewhere: Path) -> None:
    other = write(elsewhere / "other.toml", "there.db")

    assert storage_url("sqlite:///mine.db", other) == "sqlite:///mine.db"


@pytest.mark.parametrize("variable", ["FOLIOT_STORAGE", "FOLIOT_CONFIG"])
def test_the_environment_can_name_storage_and_configuration(
    call: Call, shop: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    write(shop / "other.toml", "foliot.db")
    places = {"FOLIOT_STORAGE": f"sqlite:///{shop}/foliot.db", "FOLIOT_CONFIG": "other.toml"}
    monkeypatch.setenv(variable, places[variable])
    (shop / "foliot.toml").write_text('[storage]\nurl = "sqlite:///nowhere.db"\n')

    assert len(call("runs", "--json").objects) == 4


def test_runs_can_be_listed_while_the_configuration_has_errors_elsewhere(call: Call, shop: Path) -> None:
    wrong = '[[jobs]]\nid = "x"\nschedule = "61 * * * *"\n'
    (shop / "foliot.toml").write_text(f'[storage]\nurl = "sqlite:///foliot.db"\n{wrong}')

    called = call("runs", "--json")

    assert (called.code, len(called.objects), called.err) == (0, 4, "")


@pytest.mark.parametrize("text", ["[storage\n", "[storage]\nurl = 7\n", '[storage]\nurl = "oracle://x"\n'])
def test_a_configuration_with_an_invalid_storage_is_refused(call: Call, shop: Path, text: str) -> None:
    (shop / "foliot.toml").write_text(text)

    code, out, err = call("runs")

    assert (code, out) == (1, "")
    assert "foliot.toml:" in err
    assert err.endswith("Correct it, or name one with --storage.\n")


def test_a_missing_configuration_is_refused(call: Call, shop: Path) -> None:
    code, _, err = call("runs", "--config", "nowhere.toml")

    assert (code, err.splitlines()[0]) == (2, "error: the file 'nowhere.toml' does not exist")


def test_an_unknown_kind_of_storage_is_refused(call: Call, shop: Path) -> None:
    code, _, err = call("runs", "--storage", "sqlit:///foliot.db")

    assert code == 2
    assert 'Did you mean "sqlite"?' in err
