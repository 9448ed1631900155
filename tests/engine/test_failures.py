"""Failed rounds are logged when a failure begins and when it ends, not once per round."""

import logging
from typing import Any

import pytest

from foliot.domain.instant import SECOND, Millis
from foliot.engine.failures import FailureLog, FailureSource
from foliot.engine.loop import IMMEDIATELY, Loop
from foliot.errors import StorageGone, StorageUnavailable
from foliot.testing.clock import VirtualClock
from tests.engine.ease import ease
from tests.engine.test_loop import Chore, running

AWAY = StorageUnavailable("the database is away", hint="Start it.")
SOON = Millis(100)


@pytest.fixture
def failures(clock: VirtualClock) -> FailureLog:
    return FailureLog(clock)


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records]


def facts(caplog: pytest.LogCaptureFixture, event: str) -> dict[str, Any]:
    [found] = [vars(record) for record in caplog.records if record.message == event]
    return found


def test_an_outage_of_all_duties_is_one_event_at_its_begin_and_one_at_its_end(
    failures: FailureLog, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    scheduler, consumer = failures.source("scheduler"), failures.source("consumer")

    for _ in range(3):
        scheduler.failed(AWAY, SOON)
        consumer.failed(AWAY, SOON)
        clock.advance(SECOND)
    scheduler.succeeded()
    consumer.succeeded()

    assert events(caplog) == ["storage_outage_began", "storage_outage_ended"]
    began, ended = facts(caplog, "storage_outage_began"), facts(caplog, "storage_outage_ended")
    assert (began["problem"], began["hint"], began["exc_info"]) == ("the database is away", "Start it.", None)
    assert (ended["failed_rounds"], ended["seconds"]) == (6, 3.0)


def test_an_outage_lasts_until_every_duty_that_failed_has_succeeded(
    failures: FailureLog, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk refuses writes and answers reads."""
    writer, reader, other = (failures.source(name) for name in ("writer", "reader", "other"))
    writer.failed(AWAY, SOON)
    reader.failed(AWAY, SOON)

    other.succeeded()
    reader.succeeded()
    writer.failed(AWAY, SOON)
    assert events(caplog) == ["storage_outage_began"]
    writer.succeeded()

    assert events(caplog) == ["storage_outage_began", "storage_outage_ended"]


def test_a_second_outage_is_logged_like_the_first(failures: FailureLog, caplog: pytest.LogCaptureFixture) -> None:
    source = failures.source("scheduler")
    for _ in range(2):
        source.failed(AWAY, SOON)
        source.succeeded()
        source.succeeded()

    assert events(caplog) == ["storage_outage_began", "storage_outage_ended"] * 2


def fail(source: FailureSource, *texts: str) -> None:
    for text in texts:
        try:
            raise ValueError(text)
        except ValueError as error:
            source.failed(error, SOON)


def test_another_error_is_logged_with_its_traceback_when_it_begins_or_changes(
    failures: FailureLog, caplog: pytest.LogCaptureFixture
) -> None:
    source = failures.source("gates")

    fail(source, "one", "one", "one", "two", "two")
    source.succeeded()

    assert events(caplog) == ["round_failed", "round_failed", "round_recovered"]
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["one", "two"]
    assert (facts(caplog, "round_recovered")["duty"], facts(caplog, "round_recovered")["failed_rounds"]) == ("gates", 5)


async def test_a_loop_logs_an_outage_once(clock: VirtualClock, caplog: pytest.LogCaptureFixture) -> None:
    with running(Chore(AWAY, AWAY, AWAY, IMMEDIATELY), clock), caplog.at_level(logging.INFO):
        for _ in range(4):
            await ease()
            clock.advance(SECOND)

    assert events(caplog) == ["storage_outage_began", "storage_outage_ended"]
    assert facts(caplog, "storage_outage_ended")["failed_rounds"] == 3


async def test_a_fatal_error_is_left_to_the_node(clock: VirtualClock, caplog: pytest.LogCaptureFixture) -> None:
    told: list[Exception] = []
    loop = Loop(Chore(StorageGone("deleted")), clock, told.append)

    await loop._round()

    assert len(told) == 1
    assert events(caplog) == []
