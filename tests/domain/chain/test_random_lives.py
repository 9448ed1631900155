"""Random lives of chains: whatever steps decide, ask for and suffer, no limit is exceeded and every chain closes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foliot.domain.alert import AlertKind
from foliot.domain.chain.decision import Decision
from foliot.domain.chain.message import Decide, ReadStatus, Spend
from foliot.domain.chain.state import ChainState
from foliot.domain.ids import RunId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Millis
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.testing.chain_invariants import check_limits, check_moves
from tests.domain.chain.world import World

LIMITS = {"max_depth": 3, "max_children": 5, "max_retries": 2, "max_concurrent": 2, "lifetime": 90 * MINUTE}
WIDE = {"spawns": 100, "class_spawns": 1_000}
SPANS = [0, SECOND, 10 * SECOND, MINUTE, 2 * MINUTE, 10 * MINUTE, HOUR]
STAGES = ["action", "verify", "extra", "escalate", "scout", "none"]
REASONS = [Reason.EXIT_CODE, Reason.TIMEOUT, Reason.LEASE_LOST, Reason.RESTART]

steps = st.integers(0, 5)
tame = st.one_of(
    st.tuples(st.just("start")),
    st.tuples(st.just("trigger"), st.sampled_from("abc")),
    st.tuples(st.just("begin"), steps),
    st.tuples(st.just("end"), steps, st.sampled_from([0, 10, 15, 20, 30, 40, 75, 99])),
    st.tuples(st.just("report"), steps, st.sampled_from(list(Decision))),
    st.tuples(st.just("fail"), steps, st.sampled_from(REASONS)),
    st.tuples(st.just("decide"), steps, st.sampled_from(list(Decision))),
    st.tuples(st.just("spend"), steps, st.integers(-5, 60)),
    st.tuples(st.just("look"), steps),
    st.tuples(st.just("wait"), st.sampled_from(SPANS)),
    st.tuples(st.just("stop"), steps),
    st.tuples(st.just("restart")),
)
greedy = st.tuples(st.just("spawn"), steps, st.sampled_from(STAGES), st.sampled_from("abcdefgh"), st.just(False))
forging = st.tuples(st.just("spawn"), steps, st.sampled_from(STAGES), st.just(""), st.just(True))
hasty = st.tuples(
    st.just("spawn"), st.just(0), st.sampled_from(["verify", "extra"]), st.sampled_from("abcdefgh"), st.just(False)
)
retrying = st.tuples(st.just("end"), steps, st.sampled_from([0, 30, 75]))
lives = st.one_of(
    st.lists(st.one_of(tame, greedy, forging), max_size=40),
    st.lists(st.one_of(greedy, greedy, st.tuples(st.just("begin"), steps)), min_size=8, max_size=30),
    st.lists(retrying, min_size=8, max_size=30),
    st.lists(hasty, min_size=4, max_size=30),
)


def play(world: World, move: tuple[Any, ...]) -> None:
    match move:
        case ("start",):
            world.start()
        case ("trigger", slot):
            world.arm(slot)
        case ("wait", span):
            world.wait(span)
        case ("restart",):
            world.restart()
        case ("stop", nth):
            if world.trees:
                world.stop(sorted(world.trees)[nth % len(world.trees)])
        case (verb, nth, *rest):
            _play_step(world, verb, nth, rest)


def _play_step(world: World, verb: str, nth: int, rest: list[Any]) -> None:
    steps = [(run_id, key) for run_id in sorted(world.trees) for key in world.open_keys(run_id)]
    run_id, key = steps[nth % len(steps)] if steps else (RunId(""), "")
    if not steps or not _has_begun(world, run_id, key):
        return
    is_step = world.step(run_id, key).depth > 0
    match verb, rest:
        case "end", [code]:
            world.end(run_id, key, code)
        case "report", [decision]:
            world.end(run_id, key, 0, output={"decision": decision, "slot": "r"})
        case "fail", [reason]:
            world.fail(run_id, key, reason=reason)
        case "spawn", [stage, window, is_forged]:
            world.spawn(run_id, key, stage, dedupe_key=window, claims={"depth": 0} if is_forged and is_step else {})
        case "decide", [decision]:
            world.ask(run_id, key, Decide(decision=decision))
        case "spend", [tokens]:
            world.ask(run_id, key, Spend(tokens=tokens))
        case "look", []:
            world.ask(run_id, key, ReadStatus())


def _has_begun(world: World, run_id: RunId, key: str) -> bool:
    """Let the step begin, unless the chain expires before."""
    step = world.step(run_id, key)
    if step.run_id in world.begun:
        return True
    world.wait(max(step.due_at - world.now, 0))
    if run_id not in world.trees or key not in world.open_keys(run_id):
        return False
    world.begin(run_id, key)
    return True


def check(world: World) -> None:
    for run_id, record in world.records.items():
        chain = world.chain(run_id)
        assert [*check_limits(record.chain_id, chain, world.spec.limits)] == []
        assert [*check_moves(record.chain_id, chain)] == []
        assert (record.state, record.children) == (chain.state, chain.children)
    active = {one.run_id for one in world.class_state.active}
    assert active == {run_id for run_id, one in world.records.items() if one.state is not ChainState.CLOSED}
    assert len(active) <= world.spec.limits.max_concurrent
    slots = [one.slot for one in world.class_state.active]
    assert len(slots) == len(set(slots))
    assert {run.parent_id for run in world.runs.values()} <= world.trees.keys()
    opened = world.kinds().count(AlertKind.BREAKER_OPENED)
    assert opened >= (world.class_state.opened is not None)
    assert world.kinds().count(AlertKind.CHAIN_ARMED) == len(world.records)


@pytest.mark.proves("R3-24", "R3-02", "C1", "C2", "C4", "C5")
@settings(max_examples=200, deadline=None)
@given(lives, st.sampled_from([None, {}]), st.sampled_from([None, {}]), st.sampled_from([None, 50]), st.booleans())
def test_no_limit_is_exceeded_and_every_chain_closes(
    life: list[tuple[Any, ...]], monitor: Any, escalate: Any, tokens: int | None, is_wide: bool
) -> None:
    stages = {"extra": {}, "escalate": escalate, "monitor": monitor}
    limits = {**LIMITS, **({} if tokens is None else {"tokens": tokens}), **(WIDE if is_wide else {})}
    world = World(stages=stages, limits=limits, good_checks=2)
    world.arm()
    for move in life:
        play(world, move)
        check(world)

    for run_id in sorted(world.trees):
        if world.chain(run_id).state is ChainState.IDLE:
            world.stop(run_id)
    world.wait(90 * MINUTE)

    check(world)
    assert world.trees == {}
    assert world.runs == {}
    assert world.class_state.active == []
    assert {ended.status for ended in world.ended.values()} <= {*Status}


def test_a_delay_is_never_below_a_second() -> None:
    world = World(stages={"extra": {}})
    run_id = world.arm()
    world.begin(run_id, "action.1")

    world.spawn(run_id, "action.1", "extra")

    assert world.step(run_id, "extra.1").due_at - world.now == SECOND
    assert world.spawn(run_id, "action.1", "extra", dedupe_key="b", delay=Millis(0))["code"] == "delay_too_short"
