"""Dying on purpose is for tests: what looks like an accident is refused before anything is opened."""

import pytest

from foliot.adapters.faults import POINTS
from tests.scenarios.crash.process import APP
from tests.scenarios.crash.stage import Stage

WRONG_CALL = 2


@pytest.mark.parametrize("name", ["production", "Prod"])
async def test_a_fault_point_is_refused_in_production(stage: Stage, name: str) -> None:
    process = stage.start("foliot", "serve", APP, fault="claim.after_commit", FOLIOT_ENV=name)

    assert await stage.ended(process) == WRONG_CALL
    assert "FOLIOT_FAULT is set in production" in process.log.read_text()


async def test_a_missing_fault_point_is_refused_with_a_list_of_points(stage: Stage) -> None:
    process = stage.start("foliot", "serve", APP, fault="claim.between")

    assert await stage.ended(process) == WRONG_CALL
    said = process.log.read_text()
    assert "fault point 'claim.between' does not exist" in said
    assert all(point in said for point in POINTS)


@pytest.mark.parametrize("count", ["0", "-1", "often"])
async def test_an_invalid_fault_count_is_refused(stage: Stage, count: str) -> None:
    process = stage.start("foliot", "serve", APP, fault=f"claim.after_commit:{count}")

    assert await stage.ended(process) == WRONG_CALL
    assert "is not a positive number" in process.log.read_text()
