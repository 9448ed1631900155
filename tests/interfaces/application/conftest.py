"""An application on each storage."""

import pytest

from foliot import Foliot


@pytest.fixture
def app(url: str) -> Foliot:
    return Foliot(url)
