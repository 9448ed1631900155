"""Executions of random graphs, whose processes are killed again and again: the result is the same table.

A seed that fails can be repeated:   FOLIOT_SEED=1234 pytest tests/scenarios/crash/test_graphs_killed.py -k fresh
"""

from random import Random
from typing import Final

import pytest

from foliot.domain.instant import Instant
from foliot.testing.invariants import check_invariants
from tests.scenarios.crash.chance import a_chance
from tests.scenarios.crash.graph_judge import graph_faults
from tests.scenarios.crash.graphs import GRAPHS, RELAY, build_graphs
from tests.scenarios.crash.judge import EARLY, faults
from tests.scenarios.crash.process import KILLED, FoliotProcess
from tests.scenarios.crash.stage import Stage

FIXED: Final = (1,)
DEATHS: Final = 6
EXECUTIONS: Final = 4
"""So many are started before each death."""
POINTS: Final = tuple(
    f"{verb}.{side}_commit" for verb in ("open", "settle_trees", "finish", "claim") for side in ("before", "after")
)
HASTE: Final = ("--lease", "1", "--poll", "0.1", "--concurrency", "20")
APP: Final = "tests.scenarios.crash.graphs_app:app"


class Cast:
    """Serves the graphs of one seed on a stage, and starts their executions."""

    def __init__(self, stage: Stage, chance: Random) -> None:
        self.stage = stage
        self.chance = chance
        self.seed = chance.randrange(1 << 32)
        self.tags: dict[str, str] = {}

    async def declare(self) -> None:
        async with build_graphs(self.stage.url, self.stage.effect_file, self.seed):
            pass

    async def ask(self, workflow: str) -> str:
        tag = f"tag-{len(self.tags)}"
        execution = await self.stage.services.workflows.start(workflow, {"tag": tag})
        self.tags[execution] = tag
        return execution

    def serve(self, *options: str, fault: str | None = None) -> FoliotProcess:
        return self.stage.start("foliot", "serve", APP, *HASTE, *options, fault=fault, CRASH_GRAPHS=str(self.seed))

    async def die_by_chance(self) -> None:
        """One of two is killed, and a moment later the other one."""
        processes = [self.serve(), self.serve()]
        await self.stage.started(processes[0])
        for process in processes:
            await self.stage.moment(self.chance, 0.8)
            process.kill()

    async def die_at_a_point(self) -> None:
        point = self.chance.choice(POINTS)
        doomed = self.serve(fault=f"{point}:{self.chance.randint(1, 2)}")
        assert await self.stage.ended(doomed) == KILLED, self.stage.logs()
        assert self.stage.fault_log.read_text() == point


@pytest.mark.proves("D2", "D4", "D5", "D6", "D8", "R2-65", "S3", "S6", "S10")
@pytest.mark.parametrize("seed", [*FIXED, pytest.param(None, id="fresh", marks=pytest.mark.seeded)])
async def test_every_graph_has_its_expected_results_while_processes_are_killed(stage: Stage, seed: int | None) -> None:
    cast = Cast(stage, a_chance() if seed is None else Random(seed))
    await cast.declare()
    for death in range(DEATHS):
        for _ in range(EXECUTIONS):
            await cast.ask(cast.chance.choice(GRAPHS))
        await (cast.die_by_chance() if death % 2 else cast.die_at_a_point())

    cast.serve()
    await stage.over(cast.tags)
    await stage.quiet()

    assert await graph_faults(stage, cast.seed, cast.tags) == []
    assert await faults(stage) == []
    assert await stage.ended(stage.start("foliot", "verify", "--since", "1h")) == 0


@pytest.mark.proves("D9", "R2-02", "R2-45")
async def test_twenty_executions_in_several_processes_do_not_mix(postgres_stage: Stage) -> None:
    stage = postgres_stage
    cast = Cast(stage, Random(3))
    await cast.declare()
    processes = [cast.serve("--concurrency", "4", "--lease", "30") for _ in range(3)]
    await stage.started(*processes)

    executions = [await cast.ask(RELAY) for _ in range(20)]
    await stage.over(executions)
    await stage.quiet()

    parts = [run for run in await stage.runs() if run.parent_id in executions]
    assert sorted((run.parent_id or "", run.child_key or "") for run in parts) == sorted(
        (execution, step) for execution in executions for step in ("first", "left", "right", "join")
    )
    assert [run.output for run in parts if _strange(run.output, run.parent_id or "", cast.tags)] == []
    assert len({run.output["pid"] for run in parts}) > 1
    now = Instant(stage.services.clock.now() + EARLY)
    assert await check_invariants(stage.storage, now=now) == []


def _strange(said: dict[str, object], execution: str, tags: dict[str, str]) -> bool:
    """Whether a step, or any step before it, was told something of another execution."""
    heard = said["heard"]
    assert isinstance(heard, list)
    is_own = (said["execution"], said["tag"], said["is_mine"]) == (execution, tags[execution], True)
    return not is_own or any(_strange(one, execution, tags) for one in heard)
