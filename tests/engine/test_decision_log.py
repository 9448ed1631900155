"""The log of the scheduler says what it decided about each tick, and why."""

import logging
from typing import Any

import pytest

from foliot.domain.ids import ScheduleId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.testing.builders import every
from tests.engine.rig import Rig

LATE = ScheduleId("late")


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    return [vars(record) for record in caplog.records if record.message == event]


@pytest.mark.proves("R4-53")
async def test_each_round_logs_how_many_ticks_had_which_outcome(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.stage.answer = None
    for name in ("a", "b"):
        await rig.schedule(every(60, overlap=Overlap.SKIP), name)

    with caplog.at_level(logging.INFO, "foliot"):
        await rig.fire(MINUTE)
        await rig.fire(MINUTE)

    rounds = [(line["due"], line["saved"], line["ticks"]) for line in logged(caplog, "schedules_fired")]
    assert rounds == [(2, 2, {"ran:on_time": 2}), (2, 2, {"skipped:overlap": 2})]


@pytest.mark.proves("R4-53")
async def test_a_tick_that_did_not_run_is_logged_with_its_reason(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.stage.answer = None
    await rig.schedule(every(60, overlap=Overlap.SKIP), "slow")
    await rig.schedule(every(60, catchup=Catchup.NONE), LATE)
    await rig.fire(MINUTE)
    await rig.storage.definitions.pause_schedules([LATE], paused=True)
    await rig.schedule(every(60, job_id=None, workflow_id="gone"), "lost")

    with caplog.at_level(logging.INFO, "foliot"):
        await rig.fire(MINUTE)
        await rig.storage.definitions.pause_schedules([LATE], paused=False)
        await rig.fire(SECOND)
        await rig.fire(10 * MINUTE + 30 * SECOND)

    found = {(line["schedule"], line["outcome"], line["reason"]) for line in logged(caplog, "tick_not_run")}
    assert found >= {
        ("slow", "skipped", "overlap"),
        ("late", "skipped", "paused"),
        ("late", "missed", "down"),
        ("lost", "failed", "launch_failed"),
    }
    first = next(line for line in logged(caplog, "tick_not_run") if line["schedule"] == "slow")
    assert (first["scheduled_for"], first["count"]) == ("2026-01-01T00:02:00Z", 1)
