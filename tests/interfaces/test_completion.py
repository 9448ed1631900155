"""foliot completion: the script, and what the shell offers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.conftest import Call


def offered(directory: Path, words: str) -> list[str]:
    """Return what bash offers for the last of these words."""
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
def test_completion_prints_a_script_for_each_shell(call: Call, shell: str) -> None:
    code, out, _ = call("completion", shell)

    assert code == 0
    assert "_FOLIOT_COMPLETE" in out
    assert "foliot" in out


def test_an_unsupported_shell_is_a_usage_error(call: Call) -> None:
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
def test_completion_offers_commands_and_ids(shop: Path, words: str, expected: list[str]) -> None:
    assert sorted(offered(shop, words)) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("foliot workflows re", ["reject", "rerun", "resume"]),
        ("foliot workflows show e", ["etl"]),
        ("foliot workflows show etl --format m", ["mermaid"]),
    ],
)
def test_completion_offers_workflow_ids(plant: Path, words: str, expected: list[str]) -> None:
    assert sorted(offered(plant, words)) == expected


def test_completion_offers_run_ids(shop: Path) -> None:
    assert len(offered(shop, "foliot logs 0")) == 4


def test_completion_without_a_database_offers_nothing_silently(tmp_path: Path) -> None:
    assert offered(tmp_path, "foliot trigger re") == []
    assert list(tmp_path.iterdir()) == []
