"""Pytest plug-in: in CI a skipped test fails, unless tests/allowed_skips.txt has a reason for it.

A line of that file is the beginning of a node id, a #, and the reason:

    tests/scenarios/test_power_loss.py::test_pulled_plug  # needs a block device of its own
"""

import os
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

ALLOWED = "tests/allowed_skips.txt"


class SkipGuard:
    def __init__(self, allowed: Mapping[str, str]) -> None:
        self.allowed = allowed

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        self.refuse(report)
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        self.refuse(report)
        return report

    def refuse(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not report.nodeid.startswith(tuple(self.allowed)):
            report.longrepr = f"skipped in CI without a line in {ALLOWED}: {reason_of(report)}"
            report.outcome = "failed"


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    match report.longrepr:
        case (_, _, str(reason)):
            return reason
    return str(getattr(report, "wasxfail", "") or report.longrepr)


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI", "").lower() in {"", "0", "false"}:
        return
    config.pluginmanager.register(SkipGuard(read_allowed(config.rootpath / ALLOWED)), "foliot-skip-guard")


def read_allowed(path: Path) -> dict[str, str]:
    """Node id -> reason. A line without a reason stops the run."""
    lines = path.read_text().splitlines() if path.exists() else []
    entries = [line.partition("#") for line in lines if line.strip() and not line.startswith("#")]
    for node, _, reason in entries:
        if not reason.strip():
            raise pytest.UsageError(f"{ALLOWED} gives no reason for {node.strip()}")
    return {node.strip(): reason.strip() for node, _, reason in entries}
