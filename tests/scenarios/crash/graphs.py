"""Random workflows whose steps end as the seed determines, and one that passes its parameters on."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from foliot import Foliot, Workflow, current_run
from foliot.domain.run.run import Status
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.spec import Step
from foliot.testing.simulation.graphs import draw_steps
from tests.domain.workflow import reference
from tests.scenarios.crash.effects import effect
from tests.scenarios.crash.jobs import OFTEN

GRAPHS: Final = ("graph-0", "graph-1", "graph-2", "graph-3")
RELAY: Final = "relay"
TOLD: Final = {"tag": "{{ params.tag }}", "execution": "{{ execution.id }}"}
_DEEDS: Final = ("succeed", "succeed", "succeed", "succeed", "fail", "hopeless", "flaky")
_RETRIES: Final[Mapping[str, dict[str, Any]]] = {
    deed: {"retries": 1, "retry_delay": 0.05} for deed in ("hopeless", "flaky")
}
_FAILING: Final = ("fail", "hopeless")


class Deed(NamedTuple):
    """How a step ends, and after how many seconds."""

    ends: str
    seconds: float


class Script(NamedTuple):
    """A graph, and what each of its steps does."""

    steps: tuple[Step, ...]
    deeds: Mapping[str, Deed]

    @property
    def results(self) -> dict[str, Result]:
        """The result of every step by the reference implementation."""
        endings = {
            name: Result.FAILURE if deed.ends in _FAILING else Result.SUCCESS for name, deed in self.deeds.items()
        }
        return reference.results(list(self.steps), endings)

    @property
    def status(self) -> Status:
        found = self.results
        if set(found.values()) == {Result.SKIPPED}:
            return Status.SKIPPED
        return Status.FAILED if reference.is_failed(list(self.steps), found) else Status.SUCCESS


def draw_scripts(seed: int) -> dict[str, Script]:
    """Return the scripts of a seed, the same in every process."""
    chance = Random(seed)
    return {name: _draw_script(chance) for name in GRAPHS}


def build_graphs(storage: str, effects: Path, seed: int) -> Foliot:
    app = Foliot(storage)
    for name, script in draw_scripts(seed).items():
        app.workflow(_graph(name, script, effects))
    app.workflow(_relay())
    app.schedule("ticking", GRAPHS[0], cron="*/2 * * * * *", catchup="all", overlap="allow")
    return app


def _draw_script(chance: Random) -> Script:
    steps = draw_steps(chance, lambda name: Step(name=name))
    return Script(steps, {step.name: Deed(chance.choice(_DEEDS), chance.uniform(0, 0.15)) for step in steps})


def _graph(name: str, script: Script, effects: Path) -> Workflow:
    flow = Workflow(name, params={"tag": ""}, max_lost=OFTEN)
    for step in script.steps:
        deed = script.deeds[step.name]
        options = {"max_lost": OFTEN, **_RETRIES.get(deed.ends, {})}
        made = flow.step(step.name, _work(deed, effects), payload=TOLD, recovers=step.recovers, **options)
        for edge in step.after:
            made.after(edge.parent, *edge.when)
        if step.is_final:
            made.final()
    return flow


def _work(deed: Deed, effects: Path) -> Callable[..., Awaitable[list[int]]]:
    async def work(tag: str, execution: str) -> list[int]:
        run = current_run()
        with effect(effects, run.run_id, run.attempt):
            await asyncio.sleep(deed.seconds)
            if deed.ends in _FAILING or (deed.ends == "flaky" and run.attempt == 1):
                raise ConnectionError("as the seed says")
        return [run.attempt, os.getpid()]

    return work


def _relay() -> Workflow:
    """Build a workflow whose steps return their parameters and the outputs of the steps before."""
    flow = Workflow(RELAY, params={"tag": ""}, max_lost=OFTEN)
    flow.step("first", _say, payload=TOLD)
    for name in ("left", "right"):
        flow.step(name, _say, payload={**TOLD, "heard": ["{{ steps.first.output }}"]}).after("first")
    heard = ["{{ steps.left.output }}", "{{ steps.right.output }}"]
    flow.step("join", _say, payload={**TOLD, "heard": heard}).after("left").after("right")
    return flow


async def _say(tag: str, execution: str, heard: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    said = {"tag": tag, "execution": execution, "is_mine": execution == current_run().execution_id}
    return {**said, "heard": heard or [], "pid": os.getpid()}
