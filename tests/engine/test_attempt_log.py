"""The log of a worker says which attempts started and how they ended; a busy worker logs counts."""

import logging
from typing import Any

import pytest

from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.run.outcome import Failure, Reason
from foliot.engine.log_rate import PER_SECOND
from foliot.ports.storage import Storage
from foliot.testing.builders import every
from foliot.testing.clock import VirtualClock
from tests.engine.rig import Rig

SURPLUS = 30


@pytest.fixture
def info(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "foliot.engine.worker.attempt_log")
    return caplog


def events(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [vars(record) for record in caplog.records if record.name.endswith("attempt_log")]


@pytest.mark.proves("R4-53")
async def test_a_start_and_an_end_are_logged_with_run_job_and_duration(
    rig: Rig, info: pytest.LogCaptureFixture
) -> None:
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await rig.claim()
    rig.clock.advance(3_100)
    rig.stage.end(run_id)
    await rig.save()

    started, ended = events(info)
    assert (started["message"], started["run"], started["job"], started["attempt"]) == (
        *("attempt_started", run_id, "report", 1),
    )
    assert (ended["message"], ended["run"], ended["outcome"], ended["took_ms"]) == (
        *("attempt_ended", run_id, "success", 3_100),
    )


async def test_an_attempt_of_a_tick_is_logged_with_its_schedule(rig: Rig, info: pytest.LogCaptureFixture) -> None:
    await rig.schedule(every(60), "hourly")
    await rig.fire(MINUTE)
    await rig.work()

    assert [event["schedule"] for event in events(info)] == ["hourly", "hourly"]


@pytest.fixture
def busy(storage: Storage, clock: VirtualClock) -> Rig:
    return Rig(storage, clock, slots=PER_SECOND + SURPLUS)


async def work_at_once(rig: Rig) -> None:
    for _ in range(PER_SECOND + SURPLUS):
        await rig.enqueue()
    await rig.work()
    rig.clock.advance(SECOND)
    await rig.consumer.round()


async def test_attempts_above_the_rate_are_counted(busy: Rig, info: pytest.LogCaptureFixture) -> None:
    await work_at_once(busy)

    messages = [event["message"] for event in events(info)]
    assert messages.count("attempt_started") == messages.count("attempt_ended") == PER_SECOND
    assert messages.count("attempts_summarized") == 1
    assert (events(info)[-1]["started"], events(info)[-1]["succeeded"]) == (SURPLUS, SURPLUS)


async def test_every_failure_is_logged_at_any_rate(busy: Rig, info: pytest.LogCaptureFixture) -> None:
    busy.stage.answer = Failure("exit code 2", Reason.EXIT_CODE, exit_code=2)

    await work_at_once(busy)

    messages = [event["message"] for event in events(info)]
    assert messages.count("attempt_failed") == PER_SECOND + SURPLUS
    assert events(info)[-1]["started"] == SURPLUS


async def test_a_stopping_worker_logs_its_last_counts(busy: Rig, info: pytest.LogCaptureFixture) -> None:
    for _ in range(PER_SECOND + SURPLUS):
        await busy.enqueue()
    await busy.claim()

    await busy.worker.drain(SECOND)

    assert events(info)[-1]["message"] == "attempts_summarized"
