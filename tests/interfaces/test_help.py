"""Help, version and usage errors, and what they import."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import foliot
from foliot.interfaces.cli import cli
from tests.cases import for_each
from tests.interfaces.commands import all_commands, command_of
from tests.interfaces.conftest import Call

COMMANDS = cli.list_commands(click.Context(cli))
EVERY_COMMAND = all_commands()
HEAVY = ("apsw", "asyncpg", "rich", "aiohttp", "watchfiles", "msgspec", "asyncio")
INNER = ("foliot.engine", "foliot.adapters", "foliot.service", "foliot.config", "foliot.wiring", "foliot.app")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["-h"], []])
def test_help_loads_no_driver_and_no_engine(arguments: list[str], tmp_path: Path) -> None:
    program = (
        "import sys\nfrom foliot.interfaces.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\nprint(*sys.modules, file=sys.stderr)"
    )

    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)

    loaded = set(ended.stderr.splitlines()[-1].split())
    assert sorted(loaded & {*HEAVY, *INNER}) == []


def test_serve_loads_the_file_watcher_only_when_it_watches() -> None:
    program = "import sys, foliot.interfaces.cli.commands.serve; print('watchfiles' in sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "False"


@pytest.mark.parametrize("name", ["runs", "jobs", "next", "show", "serve", "workflows.listing"])
def test_importing_a_command_does_not_load_rich(name: str) -> None:
    program = f"import sys, foliot.interfaces.cli.commands.{name}; print('rich' in sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "False"


def test_help_names_every_command(call: Call) -> None:
    code, out, err = call("--help")

    assert (code, err) == (0, "")
    assert [name for name in COMMANDS if f"\n  {name} " not in out] == []


@for_each("name", ["show", "logs", "cancel", "retry", "mark", "workflows show", "workflows approve"])
def test_help_of_commands_with_a_run_explains_how_to_name_it(call: Call, name: str) -> None:
    assert "by JOB@last" in " ".join(call(*name.split(), "--help").out.split())


@for_each("name", EVERY_COMMAND)
def test_every_command_and_every_option_has_help(call: Call, name: str) -> None:
    code, out, _ = call(*name.split(), "--help")

    options = [parameter for parameter in command_of(name).params if isinstance(parameter, click.Option)]
    assert (code, command_of(name).name) == (0, name.split()[-1])
    assert out.startswith(f"Usage: foliot {name}")
    assert [option.name for option in options if not option.help] == []


def test_version_prints_the_version(call: Call) -> None:
    assert call("--version") == (0, f"foliot, version {foliot.__version__}\n", "")


def test_an_unknown_command_is_refused_with_the_closest_match(call: Call) -> None:
    assert call("sevre") == (2, "", "error: command 'sevre' does not exist\n  Did you mean \"serve\"?\n")


def test_an_unknown_option_exits_with_2(call: Call) -> None:
    code, out, err = call("runs", "--jbo", "x")

    assert (code, out) == (2, "")
    assert err.startswith("error: No such option '--jbo'.")
    assert err.endswith("  See: foliot runs --help\n")


def test_the_choices_of_a_missing_option_are_on_one_line(call: Call) -> None:
    code, _, err = call("user", "add", "ada")

    assert code == 2
    assert err.startswith("error: Missing option '--role'. Choose from: viewer, operator, editor, admin\n")


def test_a_call_without_a_command_prints_help_and_exits_with_2(call: Call) -> None:
    code, out, err = call()

    assert (code, out) == (2, "")
    assert "Usage: foliot" in err


@pytest.mark.proves("Z16")
def test_an_error_message_is_escaped_and_on_one_line(call: Call) -> None:
    code, _, err = call("show\x1b[2J\nerror: forged")

    assert code == 2
    assert "\x1b" not in err
    assert len([line for line in err.splitlines() if line.startswith("error: ")]) == 1


def test_characters_missing_in_the_locale_are_escaped(shop: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}

    ended = subprocess.run(
        [sys.executable, "-m", "foliot", "show", "report"], cwd=shop, env=environment, capture_output=True, check=False
    )

    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"F\\xfcr die Woche" in ended.stdout
