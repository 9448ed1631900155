"""PostgreSQL restarted, and its connections broken, under load: processes survive, and everything drains."""

import asyncio
from collections.abc import Callable

import pytest

from foliot.domain.run.run import Status
from tests.scenarios.crash.judge import faults
from tests.scenarios.crash.stage import Stage

SHARE = {"quick": 100, "threaded": 40, "flaky": 40, "command": 10}
IDLE_IN_TRANSACTION = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = '{}' AND state LIKE 'idle in transaction%' AND state_change < now() - interval '1 second'
"""


@pytest.mark.proves("M3", "M6", "S6", "T1", "T2", "L1")
async def test_all_runs_end_while_all_backends_are_terminated_repeatedly(postgres_stage: Stage) -> None:
    stage = postgres_stage

    await _break(stage, times=6, how=lambda: stage.server.terminate_backends(stage.database))

    assert await faults(stage) == []


@pytest.mark.proves("M3", "M6", "S6", "T1", "T2", "L1")
async def test_all_runs_end_after_a_server_restart(postgres_stage: Stage) -> None:
    stage = postgres_stage

    await _break(stage, times=2, how=stage.server.restart)

    assert await faults(stage) == []


@pytest.mark.proves("M3", "S6", "T1", "T2", "L1")
async def test_all_runs_end_after_a_server_crash(postgres_stage: Stage) -> None:
    stage = postgres_stage

    def crash() -> None:
        stage.server.crash()
        stage.server.recover()

    await _break(stage, times=2, how=crash)

    assert await faults(stage) == []


async def _break(stage: Stage, *, times: int, how: Callable[[], None]) -> None:
    """Two nodes work and keep time while connections break; both live on, and every run succeeds."""
    await stage.declare("few")
    nodes = [stage.serve(plan="few") for _ in range(2)]
    await stage.started(*nodes)
    asked: list[str] = []
    for _ in range(times):
        asked += [run_id for job, count in SHARE.items() for run_id in await stage.enqueue(job, count)]
        before = await stage.ticks()
        await asyncio.to_thread(how)
        await stage.more_ticks_than(before)
        assert stage.server.sql(IDLE_IN_TRANSACTION.format(stage.database)) == "0"

    runs = await stage.over(asked)
    await stage.quiet()

    assert [node.returncode for node in nodes] == [None, None]
    assert {run.status for run in runs} == {Status.SUCCESS}
