"""Processes killed while a chain is armed, asked, closed, or while its breaker opens: nothing is done twice, nothing is
lost, and the chain closes."""

import sys
from collections import Counter
from typing import Any, Final

import pytest

from foliot.domain.alert import Alert, AlertKind
from foliot.domain.chain.class_state import BreakerState, class_key, read_class
from foliot.domain.chain.spec import CHAIN
from foliot.domain.chain.state import ChainOutcome, ChainState
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.tree.kind import Wanted
from foliot.ports.chains import ChainDetails
from foliot.testing.invariants import check_invariants
from tests.scenarios.crash.effects import shell_note
from tests.scenarios.crash.judge import EARLY
from tests.scenarios.crash.process import KILLED
from tests.scenarios.crash.stage import Stage

GUARD: Final = JobId("guard")
SPAWN: Final = f"{sys.executable} -m foliot chain spawn extra --delay 1s"
_WAIT: Final = 'while [ ! -e "$CRASH_GATE" ]; do sleep 0.05; done'
_NOW: Final = {"delay": 0}


async def put_guard(stage: Stage, action: str = "true", *, idempotent: bool = False, **spec: Any) -> None:
    """Define a class whose steps begin at once. Its action records what it does."""
    env = {"CRASH_EFFECTS": str(stage.effect_file), "CRASH_GATE": str(stage.gate)}
    acting = f"{shell_note('begin')}; {action}"
    stages = {
        "scout": {"spec": {"command": "exit 10"}},
        "action": {"spec": {"command": acting, "env": env}, "idempotent": idempotent, **_NOW},
        "verify": {"spec": {"command": "true"}, **_NOW},
        "extra": {"spec": {"command": "true"}},
    }
    options = Options(queue=TREES_QUEUE, max_lost=100)
    await stage.services.jobs.put({GUARD: JobSpec(kind=CHAIN, spec={"stages": stages, **spec}, options=options)})


async def details(stage: Stage, run_id: str) -> ChainDetails:
    found = await stage.storage.queries.chain(run_id)
    assert found is not None
    return found


async def alerts(stage: Stage) -> Counter[str]:
    events = await stage.storage.queries.events(after=0, limit=10_000)
    found = [Alert.of_item(item) for event in events if event.kind is EventKind.ALERT_RAISED for item in event.items]
    return Counter(alert.kind for alert in found)


async def breaker(stage: Stage) -> BreakerState:
    nobody = RunId("-")
    loaded = await stage.storage.trees.load([Wanted(run_id=nobody, shared=class_key(GUARD))])
    shared = loaded[nobody].shared
    assert shared is not None
    return read_class(shared.body).breaker(stage.services.clock.now())


async def die(stage: Stage, point: str) -> str:
    """Start a chain, and let the process that handles it die at this point."""
    [run_id] = await stage.enqueue(GUARD)
    doomed = stage.serve(fault=point)
    assert await stage.ended(doomed) == KILLED, stage.logs()
    return run_id


async def judge(stage: Stage, run_id: str) -> ChainDetails:
    """Wait for the end, and check everything that must hold then."""
    await stage.over([run_id])
    await stage.quiet()
    found = await details(stage, run_id)
    now = stage.services.clock.now()
    assert await check_invariants(stage.storage, now=type(now)(now + EARLY)) == []
    assert found.chain.state is ChainState.CLOSED
    return found


def executions(stage: Stage, found: ChainDetails) -> int:
    """Return how often the action was executed, over all its steps."""
    actions = {step.run_id for step in found.chain.steps if step.stage == "action"}
    return sum(effect.what == "begin" and effect.run_id in actions for effect in stage.effects())


@pytest.mark.proves("R3-02", "C4", "C5")
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("nth", [1, 2, 3])
async def test_a_chain_whose_coordinator_is_killed_closes_once(stage: Stage, side: str, nth: int) -> None:
    """The first decision arms the chain, the second plans its verification, the third closes it."""
    await put_guard(stage)
    run_id = await die(stage, f"settle_trees.{side}_commit:{nth}")

    stage.serve()
    found = await judge(stage, run_id)

    assert found.chain.outcome is ChainOutcome.RESOLVED
    assert [move.state for move in found.chain.moves] == [ChainState.ARMED, ChainState.ACTIVE, ChainState.CLOSED]
    assert await alerts(stage) == {AlertKind.CHAIN_ARMED: 1}
    assert executions(stage, found) == 1


@pytest.mark.proves("R3-26", "R3-45", "C2")
@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_spawn_whose_worker_is_killed_is_made_at_most_once(stage: Stage, side: str) -> None:
    await put_guard(stage, SPAWN)
    run_id = await die(stage, f"ask_chain.{side}_commit")

    stage.serve()
    found = await judge(stage, run_id)

    extras = [step for step in found.chain.steps if step.stage == "extra"]
    assert len(extras) == (side == "after")
    assert executions(stage, found) == 1


@pytest.mark.proves("R3-29", "B3", "B5")
@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_breaker_that_a_failure_opens_opens_once(stage: Stage, side: str) -> None:
    await put_guard(stage, "exit 1", breaker={"failures": 1})
    run_id = await die(stage, f"settle_trees.{side}_commit:2")

    stage.serve()
    found = await judge(stage, run_id)

    assert found.chain.outcome is ChainOutcome.ESCALATED
    assert await breaker(stage) is BreakerState.OPEN
    expected = {AlertKind.CHAIN_ARMED: 1, AlertKind.CHAIN_ESCALATED: 1, AlertKind.BREAKER_OPENED: 1}
    assert await alerts(stage) == expected


@pytest.mark.proves("R3-29", "B3", "B4", "B5")
@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_breaker_that_a_request_opens_opens_at_most_once(stage: Stage, side: str) -> None:
    await put_guard(stage, SPAWN, limits={"max_depth": 1})
    run_id = await die(stage, f"ask_chain.{side}_commit")
    is_open = side == "after"
    assert (await breaker(stage) is BreakerState.OPEN) == is_open

    stage.serve()
    found = await judge(stage, run_id)

    assert (found.chain.outcome is ChainOutcome.FAILED) == is_open
    assert (await alerts(stage))[AlertKind.BREAKER_OPENED] == is_open
    assert executions(stage, found) == 1


@pytest.mark.proves("R3-45")
@pytest.mark.parametrize(("idempotent", "times"), [(False, 1), (True, 2)])
async def test_an_action_whose_worker_was_killed_is_repeated_only_if_idempotent(
    stage: Stage, idempotent: bool, times: int
) -> None:
    await put_guard(stage, _WAIT, idempotent=idempotent)
    [run_id] = await stage.enqueue(GUARD)
    doomed = stage.serve()
    await stage.until(lambda: len(stage.effects()) == 1, "the action has begun")
    doomed.kill()

    stage.serve()
    if idempotent:
        await stage.until(lambda: len(stage.effects()) == 2, "the action has begun again")
        stage.gate.touch()
    found = await judge(stage, run_id)

    assert executions(stage, found) == times
    assert [step.stage for step in found.chain.steps] == ["scout", "action", "verify"]
    assert found.chain.outcome is ChainOutcome.RESOLVED
