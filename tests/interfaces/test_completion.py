"""foliot completion: what a shell offers after a tab."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.conftest import Call


def offered(directory: Path, words: str) -> list[str]:
    """What bash would offer for the last of these words."""
    variables = {
        **os.environ,
        "_FOLIOT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    ended = subprocess.run(
        [sys.executable, "-c", "from foliot.interfaces.cli import main; main()"],
        cwd=directory, env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.stderr == ""
    return [line.partition(",")[2] for line in ended.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(call: Call, shell: str) -> None:
    code, out, _ = call("completion", shell)

    assert code == 0
    assert "_FOLIOT_COMPLETE" in out
    assert "foliot" in out


def test_another_shell_is_a_wrong_call(call: Call) -> None:
    assert call("completion", "tcsh").code == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("foliot tri", ["trigger"]),
        ("foliot trigger re", ["report"]),
        ("foliot pause report-", ["report-often", "report-weekly"]),
        ("foliot runs --job b", ["broken"]),
        ("foliot runs --status can", ["cancelled", "cancelling"]),
    ],
)
def test_commands_and_ids_are_offered(shop: Path, words: str, expected: list[str]) -> None:
    assert sorted(offered(shop, words)) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("foliot workflows re", ["reject", "rerun", "resume"]),
        ("foliot workflows show e", ["etl"]),
        ("foliot workflows show etl --format m", ["mermaid"]),
    ],
)
def test_workflows_are_offered(plant: Path, words: str, expected: list[str]) -> None:
    assert sorted(offered(plant, words)) == expected


def test_runs_are_offered(shop: Path) -> None:
    assert len(offered(shop, "foliot logs 0")) == 4


def test_without_a_database_nothing_is_offered_and_nothing_said(tmp_path: Path) -> None:
    assert offered(tmp_path, "foliot trigger re") == []
    assert list(tmp_path.iterdir()) == []
