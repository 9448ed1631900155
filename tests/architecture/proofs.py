"""Pytest plug-in: collects `@pytest.mark.proves(...)` and what became of these tests.

A mark with an id that docs/requirements.toml does not list stops the run. A full run (every test, none
deselected) leaves its result in pytest's cache, where `scripts/requirements` finds it.
"""

from pathlib import Path

import pytest

from tests.architecture.promises import CACHE_KEY, ROOT, Proof, base_test, known_ids, load_promises

RANK = {"passed": 0, "skipped": 1, "failed": 2}
"""The worst report of all phases and parameters is what counts for the test."""


class ProofRecorder:
    def __init__(self, known: set[str]) -> None:
        self.known = known
        self.ids: dict[str, tuple[str, ...]] = {}
        self.outcomes: dict[str, str] = {}
        self.unfinished: set[str] = set()
        self.is_partial = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        claims = {item.nodeid: claimed_ids(item) for item in items}
        strange = {node: set(ids) - self.known for node, ids in claims.items()}
        mistakes = [f"{node}: {' '.join(sorted(ids))}" for node, ids in strange.items() if ids]
        if mistakes:
            raise pytest.UsageError("proves() names ids that are not in docs/requirements.toml", *mistakes)
        self.ids = {base_test(node): ids for node, ids in claims.items() if ids}
        self.unfinished = set(claims)

    def pytest_deselected(self) -> None:
        self.is_partial = True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = base_test(report.nodeid)
        self.outcomes[test] = max(self.outcomes.get(test, "passed"), report.outcome, key=RANK.__getitem__)
        if report.when == "teardown":
            self.unfinished.discard(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.saw_all(session):
            proofs = [Proof(test, ids, self.outcomes[test]) for test, ids in sorted(self.ids.items())]
            session.config.cache.set(CACHE_KEY, [[proof.test, proof.ids, proof.outcome] for proof in proofs])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # A file that did not load hides its tests, so this is not all there is.
        self.is_partial |= report.failed

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
