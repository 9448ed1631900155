"""The bell tells the first ring at once and is quiet the longer the more it is rung."""

import pytest

from foliot.adapters.storage.postgres.bell import next_quiet


@pytest.mark.parametrize("rings", [0, 1])
def test_who_is_rung_now_and_then_is_soon_ready_to_tell(rings: int) -> None:
    assert next_quiet(0.05, rings) == next_quiet(0.005, rings) == 0.005


def test_quiet_grows_while_the_bell_is_rung_again_and_again() -> None:
    quiet, seen = 0.005, []
    for _ in range(5):
        quiet = next_quiet(quiet, rings=2)
        seen.append(quiet)

    assert seen == [0.01, 0.02, 0.04, 0.05, 0.05]
