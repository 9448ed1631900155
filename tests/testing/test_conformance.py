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
    """A project with its own tests and an installed Foliot."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    installed = tmp_path / "site" / "foliot_as_declared-0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: foliot-as-declared\nVersion: 0\n")
    lines = [f"{name} = {module}\n" for name, module in declared.items()]
    (installed / "entry_points.txt").write_text(f"[pytest11]\n{''.join(lines)}")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_adapter.py").write_text(ADAPTER)
    return tmp_path


def test_a_project_outside_need_not_declare_the_proves_mark(elsewhere: Path) -> None:
    places = os.pathsep.join([str(elsewhere / "site"), str(ROOT / "src")])
    options = ["--strict-markers", "-Werror::pytest.PytestUnknownMarkWarning", "--collect-only", "-q"]

    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "tests"],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "TestRuns::test_a_run_is_read_as_it_was_created" in done.stdout
    assert "UnknownMark" not in done.stdout + done.stderr
