"""Pytest plug-in: collects `@pytest.mark.proves(...)` and the results of these tests.

A mark with an id that docs/requirements.toml does not list stops the run. A full run (every test, none
deselected) leaves its result in pytest's cache, where `scripts/requirements` finds it.

With `pytest -n` the tests run in several processes, and the result is collected in the process that started them:

    process of the tests --reports with `proves`, and whether it left a test out--> main process --> cache
"""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.promises import CACHE_KEY, ROOT, Proof, base_test, known_ids, load_promises

RANK = {"passed": 0, "skipped": 1, "failed": 2}
"""The worst report of all phases and parameters is the result of the test."""

IS_PARTIAL = "foliot-is-partial"
"""Sent by a process of `pytest -n` at its end: whether it omitted a test."""


class ProofRecorder:
    def __init__(self, known: set[str]) -> None:
        self.known = known
        self.ids: dict[str, tuple[str, ...]] = {}
        self.outcomes: dict[str, str] = {}
        self.unfinished: set[str] = set()
        self.is_partial = False

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if mistakes := [mistake for node in report.result or () for mistake in self.mistakes(node)]:
            report.outcome = "failed"
            report.longrepr = "\n".join(["proves() names ids that are not in docs/requirements.toml", *mistakes])
        return report

    def mistakes(self, node: pytest.Item | pytest.Collector) -> list[str]:
        strange = set(claimed_ids(node)) - self.known if isinstance(node, pytest.Item) else set()
        return [f"{node.nodeid}: {' '.join(sorted(strange))}"] if strange else []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.unfinished.update(item.nodeid for item in items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self.unfinished.update(ids)

    def pytest_deselected(self) -> None:
        self.is_partial = True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # A file that failed to load hides its tests, so the run is partial.
        self.is_partial |= report.failed

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.proves = claimed_ids(item)  # type: ignore[attr-defined]  # reports carry more to the main process
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # an outcome of pytest-rerunfailures
            return  # the test is repeated, and its last report counts
        test = base_test(report.nodeid)
        self.outcomes[test] = max(self.outcomes.get(test, "passed"), report.outcome, key=RANK.__getitem__)
        # A process that crashed leaves a report without ids; its test never reaches its teardown.
        if ids := getattr(report, "proves", ()):
            self.ids[test] = tuple(ids)
        if report.when == "teardown":
            self.unfinished.discard(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.is_partial |= getattr(node, "workeroutput", {}).get(IS_PARTIAL, True)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[IS_PARTIAL] = self.is_partial
        elif self.saw_all(session):
            proofs = [Proof(test, ids, self.outcomes[test]) for test, ids in sorted(self.ids.items())]
            session.config.cache.set(CACHE_KEY, [[proof.test, proof.ids, proof.outcome] for proof in proofs])

    def saw_all(self, session: pytest.Session) -> bool:
        asked_for_all = session.config.args == session.config.getini("testpaths")
        return asked_for_all and not self.is_partial and not self.unfinished


def claimed_ids(item: pytest.Item) -> tuple[str, ...]:
    claimed = (str(name) for mark in item.iter_markers("proves") for name in mark.args)
    return tuple(sorted(set(claimed)))


def pytest_configure(config: pytest.Config) -> None:
    root = config.rootpath if has_promises(config.rootpath) else ROOT
    config.pluginmanager.register(ProofRecorder(known_ids(load_promises(root))), "foliot-proofs")


def has_promises(root: Path) -> bool:
    return (root / "docs" / "requirements.toml").exists()
