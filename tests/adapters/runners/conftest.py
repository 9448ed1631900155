"""Each test of a runner counts its own dead children."""

import pytest

from tests.adapters.runners.attempts import forget_zombies


@pytest.fixture(autouse=True)
def own_zombies() -> None:
    forget_zombies()
