"""Processes killed while they call named hooks: each run calls its hooks at least once, in order."""

import pytest

from tests.scenarios.crash.chance import a_chance
from tests.scenarios.crash.stage import Stage

APP = "tests.scenarios.crash.hooks_app:app"
_HASTE = ("--lease", "1", "--poll", "0.1", "--concurrency", "20")


@pytest.mark.seeded
@pytest.mark.proves("R2-56")
async def test_named_hooks_are_called_for_every_run_while_processes_are_killed(stage: Stage) -> None:
    chance = a_chance()
    first = stage.start("foliot", "serve", APP, *_HASTE)
    await stage.started(first)
    asked: set[str] = set()
    for _ in range(4):
        asked.update(await stage.enqueue("quick", 40))
        await stage.moment(chance, 0.5)
        first.kill()
        first = stage.start("foliot", "serve", APP, *_HASTE)
        await stage.started(first)
    asked.update(await stage.enqueue("quick", 10))
    await stage.over(asked)

    await stage.until(lambda: calls_of(stage, "end") >= asked, "each run has called its hook")

    assert calls_of(stage, "start") >= asked
    order = [f"{effect.what} {effect.run_id}" for effect in stage.effects()]
    assert all(order.index(f"start {run_id}") < order.index(f"end {run_id}") for run_id in asked)
    assert len(order) >= 2 * len(asked)


def calls_of(stage: Stage, what: str) -> set[str]:
    return {effect.run_id for effect in stage.effects() if effect.what == what}
