"""The examples of chains, watched until they vanish."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.adapters.runners.attempts import living

WATCH: Final = Path(__file__).parents[2] / "examples" / "chains" / "watch.py"
SPEED: Final = "120"


def watch(example: str, tmp_path: Path) -> list[str]:
    """Return the lines that it prints, without times. The name of its directory marks every process that it starts."""
    ended = subprocess.run(
        [sys.executable, str(WATCH), example, "--speed", SPEED],
        env={**os.environ, "TMPDIR": str(tmp_path), "TZ": "UTC"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert living(f"{tmp_path}/foliot-chain-") == []
    assert list(tmp_path.iterdir()) == []
    return [re.sub(r"^\d\d:\d\d:\d\d  ", "", line) for line in ended.stdout.splitlines()]


def states(lines: list[str]) -> list[str]:
    return [found[1] for line in lines if (found := re.match(r"chain \S+ is (\w+):", line))]


def last_decisions(lines: list[str]) -> dict[str, str]:
    """Return what each step has decided, or how it ended."""
    found = (re.fullmatch(r"  (\w+\.\d+): (\w+)", line) for line in lines)
    return {one[1]: one[2] for one in found if one}


def outcome(lines: list[str]) -> str:
    return next(line.split()[1] for line in lines if line.startswith("outcome "))


@pytest.mark.proves("R3-50", "R3-54")
def test_the_auction_is_defended_and_watched_until_it_closes(tmp_path: Path) -> None:
    lines = watch("auction", tmp_path)

    steps = last_decisions(lines)
    assert states(lines) == ["armed", "active", "cooling_down", "closed"]
    assert (steps["action.1"], steps["action.2"]) == ("done", "done")
    assert "retry" in steps.values()
    assert outcome(lines) == "resolved"


@pytest.mark.proves("R3-55")
def test_a_busy_agent_is_asked_again_and_the_checks_become_green(tmp_path: Path) -> None:
    lines = watch("ci", tmp_path)

    steps = last_decisions(lines)
    assert (steps["action.1"], steps["action.2"], steps["action.3"]) == ("failed", "done", "done")
    assert outcome(lines) == "resolved"
    assert any(line.startswith("spent ") and "24000 tokens, 0.36 USD of 2.5 USD" in line for line in lines)


@pytest.mark.proves("R3-38", "R3-55")
def test_an_action_that_fails_for_good_is_not_repeated_and_a_person_is_told(tmp_path: Path) -> None:
    lines = watch("ci-hopeless", tmp_path)

    assert last_decisions(lines) == {"scout.1": "trigger", "action.1": "failed", "escalate.1": "done"}
    assert outcome(lines) == "escalated"
    assert "because  action.1 ended as failed: exit code 1" in lines


@pytest.mark.proves("R3-56")
def test_the_index_is_closed_after_three_good_checks(tmp_path: Path) -> None:
    lines = watch("index", tmp_path)

    checks = [decision for key, decision in last_decisions(lines).items() if not key.startswith(("scout", "action"))]
    assert (checks[-3:], set(checks[:-3])) == (["good"] * 3, {"monitor"})
    assert states(lines) == ["armed", "active", "cooling_down", "closed"]
    assert outcome(lines) == "resolved"
