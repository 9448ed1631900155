"""Standard output that is closed, full, or no longer read."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.conftest import Call

REDIRECTIONS = [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")]


def in_shell(line: str, *, buffered: bool = True) -> tuple[int, str, str]:
    """Run a line of bash in which `foliot` is this program."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    program = f'foliot() {{ "{sys.executable}" -m foliot "$@"; }}; set -o pipefail; {line}'
    ended = subprocess.run(["bash", "-c", program], env=environment, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(("redirection", "why"), REDIRECTIONS)
@pytest.mark.parametrize("command", ["runs", "runs --json", "show report", "logs report@last --json", "--help"])
def test_an_answer_that_cannot_be_written_exits_with_1(
    shop: Path, command: str, redirection: str, why: str, buffered: bool
) -> None:
    code, _, err = in_shell(f"foliot {command} {redirection}", buffered=buffered)

    assert code == 1
    message, hint = f"the answer could not be written: {why}", "Check where standard output leads to."
    if "--json" in command:
        problem = {"severity": "error", "code": "output_not_written", "message": message, "hint": hint}
        assert json.loads(err) == problem
    else:
        assert err == f"error: {message}\n  {hint}\n"


@pytest.mark.parametrize(("redirection", "why"), REDIRECTIONS)
@pytest.mark.parametrize("command", ["trigger report", "trigger report --json", "retry broken@last"])
def test_the_id_of_a_started_run_is_printed_on_standard_error_if_standard_output_fails(
    shop: Path, call: Call, command: str, redirection: str, why: str
) -> None:
    code, _, err = in_shell(f"foliot {command} {redirection}")

    [newest] = call("runs", "-n", "1", "--json").objects
    assert code == 1
    first, second, *_ = err.splitlines()
    assert first == newest["id"]
    assert f"the answer could not be written: {why}" in second


def test_a_usage_error_is_reported_without_standard_output(shop: Path) -> None:
    assert in_shell("foliot show nobody >&-")[0] == 1
    assert in_shell("foliot rnus >&-")[0] == 2


@pytest.mark.parametrize("command", ["runs", "runs --json", "jobs", "schedules --json"])
def test_a_reader_that_takes_only_the_first_line_causes_no_error(shop: Path, command: str) -> None:
    code, out, err = in_shell(f"foliot {command} | head -1")

    assert (code, len(out.splitlines()), err) == (0, 1, "")


@pytest.mark.parametrize("command", ["runs", "--help", "runs --json", "logs broken@last --json"])
def test_writing_to_a_closed_pipe_ends_by_sigpipe(shop: Path, command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    ended = subprocess.run(
        [sys.executable, "-m", "foliot", *command.split()], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)

    assert (ended.returncode, ended.stderr) == (-signal.SIGPIPE, b"")


def test_a_command_works_with_standard_error_closed(shop: Path) -> None:
    code, out, _ = in_shell("foliot runs --job nobody 2>&-")
    assert (code, out) == (1, "")

    code, out, _ = in_shell("foliot runs -n 1 --json <&- 2>&-")
    assert (code, len(out.splitlines())) == (0, 1)


def test_no_opened_file_gets_the_number_of_a_closed_stream(shop: Path) -> None:
    before = in_shell("foliot runs --json")[1]

    assert in_shell("foliot runs --json <&- >&- 2>&-")[0] == 1

    assert in_shell("foliot runs --json")[1] == before
