"""Which database a command is about."""

from pathlib import Path

import pytest

from foliot.interfaces.cli.open_storage import storage_url
from tests.interfaces.conftest import Call


def write(path: Path, storage: str) -> Path:
    path.write_text(f'[storage]\nurl = "sqlite:///{storage}"\n')
    return path


@pytest.mark.parametrize("command", ["runs", "check", "plan", "serve", "worker", "migrate"])
def test_who_stands_in_a_deleted_directory_is_told_so(elsewhere: Path, call: Call, command: str) -> None:
    elsewhere.rmdir()

    called = call(command)

    assert called.code == 1
    assert "the current directory" in called.err
    assert "Traceback" not in called.err


def test_without_anything_it_is_a_file_here() -> None:
    assert storage_url(None, None) == "sqlite:///foliot.db"


def test_a_configuration_here_says_where(elsewhere: Path) -> None:
    write(elsewhere / "foliot.toml", "here.db")

    assert storage_url(None, None).endswith("here.db")


def test_a_named_configuration_goes_before_the_one_here(elsewhere: Path) -> None:
    write(elsewhere / "foliot.toml", "here.db")

    assert storage_url(None, write(elsewhere / "other.toml", "there.db")).endswith("there.db")


def test_a_named_database_goes_before_all(elsewhere: Path) -> None:
    other = write(elsewhere / "other.toml", "there.db")

    assert storage_url("sqlite:///mine.db", other) == "sqlite:///mine.db"


@pytest.mark.parametrize("variable", ["FOLIOT_STORAGE", "FOLIOT_CONFIG"])
def test_the_environment_may_say_it(call: Call, shop: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    write(shop / "other.toml", "foliot.db")
    places = {"FOLIOT_STORAGE": f"sqlite:///{shop}/foliot.db", "FOLIOT_CONFIG": "other.toml"}
    monkeypatch.setenv(variable, places[variable])
    (shop / "foliot.toml").write_text('[storage]\nurl = "sqlite:///nowhere.db"\n')

    assert len(call("runs", "--json").objects) == 4


def test_a_job_that_is_wrong_does_not_hide_the_runs(call: Call, shop: Path) -> None:
    wrong = '[[jobs]]\nid = "x"\nschedule = "61 * * * *"\n'
    (shop / "foliot.toml").write_text(f'[storage]\nurl = "sqlite:///foliot.db"\n{wrong}')

    called = call("runs", "--json")

    assert (called.code, len(called.objects), called.err) == (0, 4, "")


@pytest.mark.parametrize("text", ["[storage\n", "[storage]\nurl = 7\n", '[storage]\nurl = "oracle://x"\n'])
def test_a_file_that_does_not_say_where_is_told_to(call: Call, shop: Path, text: str) -> None:
    (shop / "foliot.toml").write_text(text)

    code, out, err = call("runs")

    assert (code, out) == (1, "")
    assert "foliot.toml:" in err
    assert err.endswith("Correct it, or name one with --storage.\n")


def test_a_configuration_that_does_not_exist(call: Call, shop: Path) -> None:
    code, _, err = call("runs", "--config", "nowhere.toml")

    assert (code, err.splitlines()[0]) == (2, "error: the file 'nowhere.toml' does not exist")


def test_a_database_of_no_known_kind(call: Call, shop: Path) -> None:
    code, _, err = call("runs", "--storage", "sqlit:///foliot.db")

    assert code == 2
    assert 'Did you mean "sqlite"?' in err
