"""foliot serve and foliot worker: errors before anything runs."""

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot.adapters.runners.process.limits import descriptors
from foliot.errors import RequestRefused
from foliot.interfaces.cli import main
from foliot.interfaces.cli.server import process, remote
from foliot.wiring import machine

COMMANDS = ["serve", "worker"]


@pytest.fixture(autouse=True)
def here(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Remove the modules that a test has imported."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    known = set(sys.modules)
    yield elsewhere
    for name in set(sys.modules) - known:
        if name.startswith("shop"):
            del sys.modules[name]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert out == ""
    return int(ended.value.code or 0), err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("target", ["shop_nowhere:app", "shop_nowhere.jobs:app", ":app", "..:app"])
def test_serving_a_missing_module_is_refused(capsys: pytest.CaptureFixture[str], command: str, target: str) -> None:
    code, err = run(capsys, command, target)

    assert code == 2
    assert f"module {target.partition(':')[0]!a} does not exist" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("target", ["shop_plain", "shop_plain:app", "shop_plain:other"])
def test_serving_a_module_without_an_application_is_refused(
    capsys: pytest.CaptureFixture[str], here: Path, command: str, target: str
) -> None:
    (here / "shop_plain.py").write_text("app = 'a word'\n")

    code, err = run(capsys, command, target)

    assert code == 2
    assert "shop_plain has no application named" in err


def test_the_closest_application_name_is_suggested(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "shop_app.py").write_text("from foliot import Foliot\nschedules = Foliot()\n")

    code, err = run(capsys, "serve", "shop_app:schedule")

    assert code == 2
    assert 'Did you mean "schedules"?' in err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("\n\nif True\n    pass\n", "SyntaxError in {path}, line 3"),
        ("\n1 / 0\n", "ZeroDivisionError in {path}, line 2"),
        ("import json\n\njson.loads('{')\n", "JSONDecodeError in {path}, line 3"),
        ("import shop_that_is_not_installed\n", "ModuleNotFoundError in {path}, line 1"),
    ],
)
def test_an_import_error_of_the_user_names_file_and_line(
    capsys: pytest.CaptureFixture[str], here: Path, command: str, text: str, trouble: str
) -> None:
    path = here / "shop_broken.py"
    path.write_text(text)

    code, err = run(capsys, command, "shop_broken:app")

    last = f"error: module 'shop_broken' could not be loaded: {trouble.format(path=path)}"
    assert (code, err.splitlines()[-1]) == (1, last)
    assert "importlib" not in err
    assert "interfaces/cli" not in err


def test_an_error_of_foliot_while_loading_is_printed_as_usual(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "shop_wrong.py").write_text("from foliot.cron import compile\ncompile('61 * * * *')\n")

    code, err = run(capsys, "serve", "shop_wrong:app")

    assert code == 2
    assert err.startswith("error: ")
    assert "Traceback" not in err


@pytest.mark.parametrize("roles", ["boss", "scheduler,boss", "Worker", "", " , "])
def test_an_unknown_role_is_refused(capsys: pytest.CaptureFixture[str], roles: str) -> None:
    code, err = run(capsys, "serve", "shop_app:app", "--roles", roles)

    assert code == 2
    assert "one of: scheduler, coordinator, worker" in err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("wrong", [["--queue", ""], ["--queue", "a b"], ["--queue", "../x"], ["--name", "\x1b[2J"]])
def test_an_invalid_process_name_is_refused(
    capsys: pytest.CaptureFixture[str], here: Path, command: str, wrong: list[str]
) -> None:
    (here / "foliot.toml").write_text("")

    code, err = run(capsys, command, *wrong)

    assert code == 2
    assert "\x1b" not in err
    assert not (here / "foliot.db").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_serve_without_configuration_and_application_is_refused_with_a_hint(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    code, err = run(capsys, command)

    assert code == 1
    assert "there is no foliot.toml in" in err
    assert "foliot init" in err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_configuration_with_errors_is_not_served(
    capsys: pytest.CaptureFixture[str], here: Path, command: str
) -> None:
    (here / "foliot.toml").write_text('[server]\nslotz = 1\n\n[[jobs]]\nid = "a b"\ncommand = "true"\n')

    code, err = run(capsys, command)

    assert code == 1
    assert "foliot.toml:2: error: server.slotz" in err
    assert "foliot.toml:5: error: jobs[1].id" in err
    assert err.splitlines()[-2] == "error: foliot.toml has 2 errors"
    assert not (here / "foliot.db").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_serving_a_missing_configuration_is_refused(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, err = run(capsys, command, "--config", "nowhere.toml")

    assert (code, err.splitlines()[0]) == (2, "error: the file 'nowhere.toml' does not exist")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "wrong",
    [
        ["--log-level", "loud"],
        ["--log-format", "xml"],
        ["--concurrency", "0"],
        ["--lease", "0"],
        ["--lease", "nan"],
        ["--lease", "inf"],
        ["--misfire-grace", "1e9"],
        ["--concurrency", "999999"],
        ["--poll", "soon"],
        ["--drain", "-1"],
    ],
)
def test_invalid_values_of_serve_options_are_refused(
    capsys: pytest.CaptureFixture[str], command: str, wrong: list[str]
) -> None:
    code, err = run(capsys, command, "shop_app:app", *wrong)

    assert code == 2
    assert f"Invalid value for '{wrong[0]}'" in err


@pytest.fixture
def target(here: Path) -> str:
    """An empty application."""
    (here / "shop_app.py").write_text("from foliot import Foliot\napp = Foliot()\n")
    return "shop_app:app"


@pytest.mark.parametrize(
    ("words", "environment", "storage"),
    [
        ("shop_app:app", "", None),
        ("shop_app:app", "sqlite:///of-the-environment.db", None),
        ("shop_app:app --storage sqlite:///asked.db", "sqlite:///of-the-environment.db", "sqlite:///asked.db"),
        ("--config foliot.toml", "", "sqlite:///of-the-file.db"),
        ("--config foliot.toml", "sqlite:///of-the-environment.db", "sqlite:///of-the-environment.db"),
        ("--config foliot.toml --storage sqlite:///asked.db", "sqlite:///of-the-environment.db", "sqlite:///asked.db"),
        ("shop_app:app --config foliot.toml", "", "sqlite:///of-the-file.db"),
    ],
)
@pytest.mark.usefixtures("as_many_descriptors_as_ever", "target")
def test_the_storage_of_serve_comes_from_option_environment_or_configuration(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    here: Path,
    words: str,
    environment: str,
    storage: str | None,
) -> None:
    """FOLIOT_STORAGE replaces the storage of a configuration, not the one in the code of an application."""
    (here / "foliot.toml").write_text('[storage]\nurl = "sqlite:///of-the-file.db"\n')
    monkeypatch.setenv("FOLIOT_STORAGE", environment)
    seen: list[process.Served] = []
    monkeypatch.setattr(process, "run_on", lambda choice, main: seen.append(main.args[0]))

    run(capsys, "serve", *words.split())

    assert [served.storage and served.storage.replace(f"{here}/", "") for served in seen] == [storage]


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")], ids=repr)
@pytest.mark.usefixtures("as_many_descriptors_as_ever")
def test_running_out_of_memory_is_a_one_line_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, target: str, error: Exception
) -> None:
    def starve(*_: object) -> None:
        raise error

    monkeypatch.setattr(process, "run_on", starve)

    code, err = run(capsys, "serve", target)

    assert code == 1
    assert err.startswith("error: the system gives this process too little: ")
    assert "Traceback" not in err


@pytest.mark.usefixtures("as_many_descriptors_as_ever")
def test_other_runtime_errors_are_not_reported_as_missing_memory(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("dictionary changed size during iteration")

    monkeypatch.setattr(process, "run_on", fail)

    with pytest.raises(RuntimeError, match="changed size"):
        main(["serve", target])


def test_a_server_whose_first_configuration_has_errors_says_that_it_was_not_started(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    (here / "wrong.toml").write_text('[[jobs]]\nid = "a"\ncron = "61 * * * *"\ncommand = "true"\n')

    code, err = run(capsys, "serve", "--config", "wrong.toml")

    assert code == 1
    assert err.endswith(
        "wrong.toml has 1 error\n  Nothing was started. Correct the file, and check it with: foliot check\n"
    )


@pytest.mark.usefixtures("as_many_descriptors_as_ever")
def test_a_remote_worker_without_valid_credentials_learns_which_variables_to_set(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    def refuse(*_: object) -> None:
        raise RequestRefused("no valid credentials", hint="", code="unauthenticated", status=401)

    monkeypatch.setattr(remote, "run_on", refuse)

    code, err = run(capsys, "worker", target, "--server", "http://127.0.0.1:7070")

    assert code == 1
    assert "Set FOLIOT_WORKER_ID and FOLIOT_WORKER_SECRET, or FOLIOT_TOKEN." in err


@pytest.fixture
def as_many_descriptors_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "raise_limit", lambda: 256)


@pytest.mark.parametrize(
    ("slots", "roles", "is_told"), [("40", "worker", False), ("41", "worker", True), ("41", "scheduler", False)]
)
@pytest.mark.usefixtures("as_many_descriptors_as_ever")
def test_too_few_descriptors_for_the_slots_are_logged_at_start(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    slots: str,
    roles: str,
    is_told: bool,
) -> None:
    monkeypatch.setattr(process, "run_on", lambda *_: None)

    code, err = run(capfd, "serve", target, "--concurrency", slots, "--roles", roles)

    assert code == 0
    assert ("few_descriptors" in err) == is_told
    assert ("Allow 259 open files (ulimit -Hn, LimitNOFILE= of systemd), or use --concurrency 40." in err) == is_told


@pytest.mark.parametrize("command", COMMANDS)
def test_a_server_raises_its_descriptor_limit_to_the_maximum(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, target: str, command: str
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr(process, "run_on", lambda *_: None)
    monkeypatch.setattr(descriptors, "_usual", None)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        run(capsys, command, target)
        taken = resource.getrlimit(resource.RLIMIT_NOFILE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert taken == (min(hard, 1 << 20), hard)
