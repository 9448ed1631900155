"""Schedulers killed again and again: every planned moment has one row, and every row that ran has one run."""

import signal
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from foliot.domain.schedule.tick import TickOutcome, TickReason, TickRecord
from foliot.testing.invariants import read_ledgers
from tests.scenarios.crash.chance import a_chance
from tests.scenarios.crash.judge import faults
from tests.scenarios.crash.stage import Stage

TICKS = 110
TERM = timedelta(seconds=20)
"""Less than a dead leader stays in office after its last renewal."""


@pytest.mark.seeded
@pytest.mark.proves("R4-04", "T1", "T2", "T3", "T4", "T5", "T7", "T10", "T14", "S3", "S10", "L1")
async def test_each_of_a_hundred_ticks_has_one_row_while_the_process_is_killed(stage: Stage) -> None:
    chance = a_chance()
    deaths = 0
    while await stage.ticks() < TICKS:
        process = stage.serve(plan="many")
        if deaths % 3:
            await stage.started(process)
        await stage.moment(chance, 1.5)
        process.kill()
        deaths += 1

    stage.serve(plan="many")
    await stage.quiet()

    assert deaths >= 5
    assert await faults(stage) == []
    assert await _every_tick_ran(stage, "all-allow")
    assert TickReason.OVERLAP in {tick.reason for tick in await _rows(stage, "none-skip-slow")}
    assert await stage.ended(stage.start("foliot", "verify", "--since", "1h")) == 0


@pytest.mark.seeded
@pytest.mark.proves("R4-51", "L6", "R4-04", "T1", "T2")
async def test_two_schedulers_fire_each_tick_once_while_processes_are_killed(stage: Stage) -> None:
    chance = a_chance()
    schedulers = [stage.scheduler(plan="few") for _ in range(2)]
    workers = [stage.worker() for _ in range(2)]
    await stage.started(*schedulers, *workers)

    for turn in range(4):
        victims = schedulers[turn % 2], workers[turn % 2]
        await stage.moment(chance, 1.5)
        for victim in victims:
            victim.kill()
        await stage.more_ticks_than(await stage.ticks() + 1)
        schedulers[turn % 2], workers[turn % 2] = stage.scheduler(plan="few"), stage.worker()
    await stage.quiet()

    assert await faults(stage) == []
    assert await _every_tick_ran(stage, "all-allow")


@pytest.mark.proves("L8", "R4-51")
async def test_a_stopped_leader_is_replaced_before_its_term_ends(stage: Stage) -> None:
    first = stage.scheduler()
    await stage.until(lambda: bool(first.logged("leader_elected")), "the first one leads")
    second = stage.scheduler()
    await stage.started(second)

    first.send(signal.SIGTERM)
    assert await stage.ended(first) == 0
    await stage.until(lambda: bool(second.logged("leader_elected")), "the second one leads")

    [former], [latter] = first.logged("leader_elected"), second.logged("leader_elected")
    assert latter["epoch"] > former["epoch"]
    assert _moment(latter) - _moment(*first.logged("node_stopped")) < TERM


def _moment(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["at"])


async def _every_tick_ran(stage: Stage, schedule_id: str) -> bool:
    """A schedule that allows overlap and catches up on everything skips nothing."""
    rows = await _rows(stage, schedule_id)
    return bool(rows) and all(tick.outcome is TickOutcome.RAN for tick in rows)


async def _rows(stage: Stage, schedule_id: str) -> Sequence[TickRecord]:
    [book] = [book async for book in read_ledgers(stage.storage) if book.ledger.schedule.id == schedule_id]
    return book.ticks
