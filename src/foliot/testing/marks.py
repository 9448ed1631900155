"""A pytest plug-in, loaded wherever Foliot is installed: it makes the mark of the conformance suites known.

Whoever tests an adapter of their own with `foliot.testing.conformance` need not declare it.
"""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "proves(*ids): the requirement and invariant ids that this test proves")
