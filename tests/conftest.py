"""Settings and hooks for all tests."""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence

import pytest
from hypothesis import settings

from foliot.testing.memory import directory_in_memory

pytest_plugins = ["pytester", "tests.architecture.proofs", "tests.architecture.skips"]

# No deadline: a slow machine is not a bug, and durations are measured by the benchmarks.
settings.register_profile("foliot", deadline=None, print_blob=True)
# For `scripts/test quick`: pytest --hypothesis-profile=quick
settings.register_profile("quick", settings.get_profile("foliot"), max_examples=15)
settings.load_profile("foliot")

_REAL_PROCESSES = tuple(
    f"tests/{directory}/"
    for directory in ("scenarios", "web", "interfaces", "client", "demo", "adapters", "engine", "architecture")
)
"""Directories of tests that start processes, servers or browsers and wait for them in real time."""


def pytest_configure(config: pytest.Config) -> None:
    if memory := directory_in_memory():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
    if sys.dont_write_bytecode:
        _redirect_bytecode(config)


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Repeat a failed test of real processes once: a machine that does other work may starve a process for longer than
    its lease. The summary lists what was repeated. `scripts/soak` sets a seed and repeats nothing, so that it finds
    defects that occur seldom."""
    if "FOLIOT_SEED" in os.environ:
        return
    for item in items:
        if item.nodeid.startswith(_REAL_PROCESSES):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Return how many processes `pytest -n auto` starts: one more than there are cores, because many tests wait for
    processes. On two cores the suite needs two thirds of the processor time."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist reads it
    return 1 + (os.cpu_count() or 1)


def _redirect_bytecode(config: pytest.Config) -> None:
    """Write bytecode to a separate directory if none is wanted in the tree: hundreds of processes are started, and each
    would spend half of its time compiling the same files again."""
    place = tempfile.mkdtemp(prefix="foliot-bytecode-")
    config.add_cleanup(lambda: shutil.rmtree(place, ignore_errors=True))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = place
