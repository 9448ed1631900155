"""The conformance suite in another project."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADAPTER = """
from foliot.testing.conformance import clock, queue, storage

class TestRuns(storage.RunContract): pass
class TestJobs(storage.JobContract): pass
"""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A project with its own tests."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_adapter.py").write_text(ADAPTER)
    return tmp_path


def collect(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--strict-markers", "--collect-only", "-q", *options, "tests"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_plug_in_registers_the_mark_of_the_suites(elsewhere: Path) -> None:
    done = collect(elsewhere, "-p", "foliot.testing", "-Werror::pytest.PytestUnknownMarkWarning")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "TestRuns::test_a_run_is_read_as_it_was_created" in done.stdout
    assert "UnknownMark" not in done.stdout + done.stderr


def test_the_plug_in_is_loaded_only_on_request(elsewhere: Path) -> None:
    """An installed package must not change the test runs of every project."""
    entry_points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"].get("entry-points", {})

    assert "pytest11" not in entry_points
    assert "'proves' not found in `markers`" in collect(elsewhere).stdout
