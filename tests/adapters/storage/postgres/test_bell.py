"""The bell sends the first ring immediately, and then pauses longer the more often it is rung."""

import asyncio
import logging
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres.database.bell import Bell, next_pause, next_quiet
from foliot.ports.topic import Topic


@pytest.mark.parametrize("rings", [0, 1])
def test_a_bell_that_is_rarely_rung_pauses_briefly(rings: int) -> None:
    assert next_quiet(0.05, rings) == next_quiet(0.005, rings) == 0.005


def test_the_pause_grows_while_the_bell_is_rung_often() -> None:
    quiet, seen = 0.005, []
    for _ in range(5):
        quiet = next_quiet(quiet, rings=2)
        seen.append(quiet)

    assert seen == [0.01, 0.02, 0.04, 0.05, 0.05]


def test_the_pause_grows_if_connections_are_accepted_and_closed() -> None:
    pause, seen = 0.1, []
    for _ in range(8):
        pause = next_pause(pause, lasted=0.02)
        seen.append(pause)

    assert seen == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]


def test_the_pause_is_short_after_a_long_connection() -> None:
    assert next_pause(10.0, lasted=60.0) == 0.1


async def test_a_server_that_refuses_notify_is_contacted_less_often(dsn: str, caplog: pytest.LogCaptureFixture) -> None:
    bell = Bell("x" * 64, lambda: asyncpg.connect(dsn))  # LISTEN accepts this name, NOTIFY does not
    with caplog.at_level(logging.DEBUG, "foliot"):
        await bell.start()
        async with asyncio.timeout(30):
            while len(caplog.records) < 4:
                bell.ring([Topic.RUNS])
                await asyncio.sleep(0.01)
        await bell.close()

    assert [vars(record)["pause"] for record in caplog.records] == [0.1, 0.2, 0.4, 0.8]
    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG", "DEBUG", "DEBUG"]


async def test_a_bell_without_a_server_leaves_the_report_to_the_loops(caplog: pytest.LogCaptureFixture) -> None:
    async def refuse() -> "asyncpg.Connection[Any]":
        raise ConnectionRefusedError("no server")

    bell = Bell("foliot", refuse)
    with caplog.at_level(logging.DEBUG, "foliot"):
        await bell.start()
        await bell.close()

    assert [record.levelname for record in caplog.records] == ["DEBUG"]
