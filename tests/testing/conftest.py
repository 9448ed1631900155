"""Fixtures of the tests of the checkers."""

import pytest

from foliot.testing.conformance.storage.scene import Scene
from tests.testing.spoiling import Distort, distorting


@pytest.fixture
def distort(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Distort:
    return distorting(scene, monkeypatch)
