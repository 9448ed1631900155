"""A pytest plug-in that registers the mark `proves` of the conformance suites.

It is loaded wherever Foliot is installed, so that projects that test an adapter need not declare the mark.
"""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "proves(*ids): the requirement and invariant ids that this test proves")
