"""The breaker of a class: when it opens, what it refuses meanwhile, and how it closes."""

import pytest

from foliot.domain.alert import AlertKind
from foliot.domain.chain.class_state import BreakerState
from foliot.domain.chain.state import ChainOutcome
from foliot.domain.ids import RunId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, to_iso
from foliot.domain.run.run import Status
from tests.domain.chain.world import CLASS, World


def fail_one(world: World, at: int | None = None) -> RunId:
    """Let a chain fail, at a moment if one is given."""
    run_id = world.arm()
    world.begin(run_id, "action.1")
    if at is not None:
        assert world.now <= at
        world.now = Instant(at)
    world.fail(run_id, "action.1")
    assert world.chain(run_id).outcome is ChainOutcome.ESCALATED
    return run_id


def resolve_one(world: World) -> RunId:
    run_id = world.arm()
    world.end(run_id, "action.1", 15)
    return run_id


@pytest.mark.proves("R3-28", "B1")
@pytest.mark.parametrize(
    ("span", "is_open"),
    [
        (30 * MINUTE - SECOND, True),
        (30 * MINUTE, True),
        (30 * MINUTE + 1, False),
        (30 * MINUTE + SECOND, False),
    ],
)
def test_the_third_failure_in_a_row_opens_the_breaker_if_it_comes_within_the_window(span: int, is_open: bool) -> None:
    world = World()
    fail_one(world)
    first = world.now
    fail_one(world)
    assert world.class_state.breaker(world.now) is BreakerState.CLOSED

    fail_one(world, first + span)

    assert (world.class_state.breaker(world.now) is BreakerState.OPEN) == is_open
    assert world.kinds().count(AlertKind.BREAKER_OPENED) == is_open


@pytest.mark.proves("R3-28", "B1")
def test_a_success_in_between_starts_the_count_again() -> None:
    world = World()
    fail_one(world)
    fail_one(world)
    resolve_one(world)

    fail_one(world)
    fail_one(world)
    assert world.class_state.opened is None
    fail_one(world)

    assert world.class_state.breaker(world.now) is BreakerState.OPEN


def test_a_stopped_chain_neither_counts_nor_resets() -> None:
    world = World()
    fail_one(world)
    fail_one(world)
    world.stop(world.arm())
    assert world.class_state.opened is None

    fail_one(world)

    assert world.class_state.breaker(world.now) is BreakerState.OPEN


@pytest.mark.proves("R3-31", "R3-52", "B5")
def test_the_alert_names_signature_runs_and_the_next_safe_time() -> None:
    world = World()
    runs = [fail_one(world) for _ in range(3)]

    [alert] = [one for one in world.alerts if one.kind == AlertKind.BREAKER_OPENED]

    assert alert.subject == CLASS
    assert alert.facts["runs"] == runs
    assert alert.facts["resume_at"] == to_iso(Instant(world.now + HOUR))
    assert "action.1 ended as failed: broken" in alert.facts["signature"]


@pytest.mark.proves("R3-30", "R3-32", "B2")
def test_an_open_breaker_ends_the_chains_of_the_class_and_arms_none() -> None:
    world = World()
    pending, running = world.arm("pending"), world.arm("running")
    world.begin(running, "action.1")
    for _ in range(3):
        world.wait(SECOND)
        fail_one(world)

    assert world.chain(pending).outcome is ChainOutcome.BREAKER_OPEN
    assert world.open_keys(running) == ["action.1"]
    world.end(running, "action.1")
    assert world.chain(running).outcome is ChainOutcome.BREAKER_OPEN
    refused = world.arm("new")
    assert (world.ended[refused].status, world.records.get(refused)) == (Status.SKIPPED, None)
    assert world.runs == {}
    assert world.kinds().count(AlertKind.BREAKER_OPENED) == 1


@pytest.mark.proves("R3-30", "B3")
def test_the_breaker_stays_open_for_the_cooldown_also_after_a_restart() -> None:
    world = World()
    for _ in range(3):
        fail_one(world)
    opened = world.now
    world.restart()

    world.now = Instant(opened + HOUR - 1)
    assert world.ended[world.arm()].status is Status.SKIPPED
    world.restart()
    world.now = Instant(opened + HOUR)

    assert world.class_state.breaker(world.now) is BreakerState.HALF_OPEN
    assert world.chain(world.arm()).is_armed


@pytest.mark.proves("B3")
def test_after_the_cooldown_one_chain_is_tried_and_its_success_closes_the_breaker() -> None:
    world = World()
    for _ in range(3):
        fail_one(world)
    world.wait(HOUR)
    probe = world.arm("probe")

    second = world.arm("second")
    assert world.ended[second].status is Status.SKIPPED
    world.end(probe, "action.1", 15)

    assert world.class_state.opened is None
    assert world.kinds()[-1] == AlertKind.BREAKER_CLOSED
    assert world.chain(world.arm("third")).is_armed


@pytest.mark.proves("B3")
def test_the_failure_of_the_tried_chain_opens_the_breaker_again_at_once() -> None:
    world = World()
    for _ in range(3):
        fail_one(world)
    world.wait(HOUR)

    fail_one(world)

    assert world.class_state.breaker(world.now) is BreakerState.OPEN
    assert world.class_state.opened is not None
    assert world.class_state.opened.until == world.now + HOUR
    assert world.kinds().count(AlertKind.BREAKER_OPENED) == 2


def test_a_tried_chain_that_is_stopped_leaves_the_breaker_half_open() -> None:
    world = World()
    for _ in range(3):
        fail_one(world)
    world.wait(HOUR)

    world.stop(world.arm())

    assert world.class_state.breaker(world.now) is BreakerState.HALF_OPEN
    assert world.chain(world.arm()).is_armed


@pytest.mark.proves("R3-29", "B4")
def test_one_violation_opens_the_breaker_and_ends_the_chain() -> None:
    world = World(stages={"extra": {}}, limits={"max_depth": 1})
    run_id = world.arm()
    world.begin(run_id, "action.1")

    answer = world.spawn(run_id, "action.1", "extra")

    assert answer["code"] == "max_depth"
    assert world.class_state.breaker(world.now) is BreakerState.OPEN
    world.end(run_id, "action.1")
    assert world.chain(run_id).outcome is ChainOutcome.FAILED
    assert world.kinds().count(AlertKind.BREAKER_OPENED) == 1


@pytest.mark.parametrize("span", [10 * SECOND - 1, 10 * SECOND])
def test_three_spawns_in_ten_seconds_are_allowed(span: int) -> None:
    world = World(stages={"extra": {}})
    run_id = world.arm()
    world.begin(run_id, "action.1")
    for n in range(3):
        assert world.spawn(run_id, "action.1", "extra", dedupe_key=str(n))["is_new"]
    world.wait(span)

    answer = world.spawn(run_id, "action.1", "extra", dedupe_key="4")

    assert answer.get("code") == ("spawn_rate" if span < 10 * SECOND else None)


@pytest.mark.proves("R3-23")
def test_the_fourth_chain_of_a_class_is_refused_and_recorded() -> None:
    world = World()
    for slot in "abc":
        world.arm(slot)

    fourth = world.arm("d")

    ended = world.ended[fourth]
    assert (ended.status, ended.reason) == (Status.SKIPPED, "chain_refused")
    assert "max_concurrent" in (ended.error or "")
    assert world.class_state.opened is None
