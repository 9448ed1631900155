"""The life of a chain: which step follows from which, at which time, and how the chain closes."""

from itertools import pairwise

import pytest

from foliot.domain.alert import AlertKind
from foliot.domain.chain.decision import Decision
from foliot.domain.chain.message import Decide
from foliot.domain.chain.state import MOVES, Chain, ChainOutcome, ChainState
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, Millis, to_iso
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from tests.domain.chain.world import World

STATES = list(ChainState)


def states(chain: Chain) -> list[ChainState]:
    return [move.state for move in chain.moves]


@pytest.mark.proves("R3-33", "C4")
@pytest.mark.parametrize("before", STATES)
@pytest.mark.parametrize("after", STATES)
def test_only_listed_moves_are_possible(before: ChainState, after: ChainState) -> None:
    chain = Chain(state=before)
    allowed = {
        ("idle", "armed"),
        ("armed", "active"),
        ("armed", "closed"),
        ("active", "cooling_down"),
        ("active", "closed"),
        ("cooling_down", "closed"),
    }

    if (before, after) in allowed:
        chain.move(after, "why", Instant(1))
        assert chain.state is after
    else:
        with pytest.raises(ValueError, match="cannot go"):
            chain.move(after, "why", Instant(1))
    assert MOVES.keys() == set(ChainState)


@pytest.mark.proves("R3-34", "R3-35", "R3-40", "R3-41", "R3-06", "R3-46", "R3-05")
def test_each_step_has_its_delay_and_every_move_its_cause() -> None:
    world = World()
    armed = world.now
    run_id = world.arm("lot")

    assert world.chain(run_id).id == f"disk-{to_iso(armed)[:10].replace('-', '')}-lot"
    assert world.step(run_id, "action.1").due_at - armed == 3 * MINUTE
    assert (world.step(run_id, "action.1").depth, world.step(run_id, "action.1").attempt) == (1, 1)
    assert states(world.chain(run_id)) == [ChainState.ARMED]
    world.end(run_id, "action.1")
    assert states(world.chain(run_id)) == [ChainState.ARMED, ChainState.ACTIVE]
    assert 2 * MINUTE <= world.step(run_id, "verify.1").due_at - world.now <= 8 * MINUTE
    world.end(run_id, "verify.1", 0)
    chain = world.chain(run_id)
    assert (chain.outcome, states(chain)[-1]) == (ChainOutcome.RESOLVED, ChainState.CLOSED)
    assert [bool(move.cause) for move in chain.moves] == [True] * 3
    assert [step.depth for step in chain.steps] == [0, 1, 2]
    assert world.runs == {}


@pytest.mark.proves("R3-44")
def test_an_action_that_finds_the_incident_resolved_closes_the_chain() -> None:
    world = World()
    run_id = world.arm()

    world.end(run_id, "action.1", 15)

    assert world.chain(run_id).outcome is ChainOutcome.RESOLVED
    assert [step.stage for step in world.chain(run_id).steps] == ["scout", "action"]


@pytest.mark.proves("R3-07", "R3-51", "R3-47", "R3-13", "R3-21", "R3-48")
def test_a_verification_retries_the_action_with_rising_delays_and_then_escalates() -> None:
    world = World(limits={"max_children": 20})
    run_id = world.arm()
    delays = []
    for attempt in range(1, 5):
        action = f"action.{attempt}"
        assert world.step(run_id, action).attempt == attempt
        world.end(run_id, action)
        world.end(run_id, f"verify.{attempt}", 30)
        following = world.chain(run_id).step(f"action.{attempt + 1}")
        if following is not None:
            delays.append((following.due_at - world.now) // MINUTE)
            assert following.depth == 1

    assert delays == [2, 5, 12]
    chain = world.chain(run_id)
    assert (chain.outcome, chain.state) == (ChainOutcome.ESCALATED, ChainState.CLOSED)
    assert world.kinds() == [AlertKind.CHAIN_ARMED, AlertKind.CHAIN_ESCALATED]
    assert world.ended[run_id].status is Status.FAILED


@pytest.mark.proves("R3-55")
@pytest.mark.parametrize(
    ("code", "reason", "error", "is_retried"),
    [
        (75, "exit_code", "", True),
        (1, "exit_code", "", False),
        (1, "exit_code", "Connection RESET by peer", True),
        (None, Reason.TIMEOUT, "", True),
        (None, Reason.CONNECTION, "", True),
        (None, Reason.LAUNCH_FAILED, "", False),
    ],
)
def test_only_transient_failures_are_retried(code: int | None, reason: str, error: str, is_retried: bool) -> None:
    world = World(stages={"action": {"transient_patterns": ["connection reset"]}})
    run_id = world.arm()

    world.end(run_id, "action.1", code, status=Status.FAILED, reason=reason, error=error)

    chain = world.chain(run_id)
    assert (chain.step("action.2") is not None, chain.outcome is ChainOutcome.ESCALATED) == (is_retried, not is_retried)


@pytest.mark.proves("R3-45")
@pytest.mark.parametrize("reason", [Reason.LEASE_LOST, Reason.RESTART])
def test_a_lost_action_is_verified_and_not_repeated(reason: Reason) -> None:
    world = World()
    run_id = world.arm()

    world.fail(run_id, "action.1", reason=reason)

    assert world.open_keys(run_id) == ["verify.1"]


def test_a_lost_verification_is_repeated() -> None:
    world = World()
    run_id = world.arm()
    world.end(run_id, "action.1")

    world.fail(run_id, "verify.1", reason=Reason.LEASE_LOST)

    assert world.open_keys(run_id) == ["verify.2"]


@pytest.mark.proves("R3-36", "R3-37", "R3-50")
@pytest.mark.parametrize(
    ("left", "minutes"),
    [
        (31 * MINUTE, 15),
        (30 * MINUTE + 1, 15),
        (30 * MINUTE, 5),
        (10 * MINUTE + 1, 5),
        (10 * MINUTE, 1),
        (10 * MINUTE - 1, 1),
    ],
)
def test_the_closer_the_deadline_the_shorter_the_interval(left: int, minutes: int) -> None:
    world = World()
    verified = world.now + 5 * MINUTE
    run_id = world.arm(deadline=to_iso(Instant(verified + left)))
    world.end(run_id, "action.1")

    world.end(run_id, "verify.1", 0)

    assert world.now == verified
    assert states(world.chain(run_id))[-1] is ChainState.COOLING_DOWN
    assert world.step(run_id, "monitor.1").due_at - world.now == minutes * MINUTE


@pytest.mark.proves("R3-37", "R3-49", "R3-54")
def test_monitoring_tapers_off_and_closes_after_the_deadline() -> None:
    world = World(limits={"max_children": 50})
    end = Instant(world.now + 40 * MINUTE)
    run_id = world.arm(deadline=to_iso(end))
    world.end(run_id, "action.1")
    world.end(run_id, "verify.1")
    while (key := world.open_keys(run_id)) and world.chain(run_id).state is not ChainState.CLOSED:
        world.end(run_id, key[0], 0)

    chain = world.chain(run_id)
    assert (chain.outcome, chain.state) == (ChainOutcome.RESOLVED, ChainState.CLOSED)
    assert chain.moves[-1].at >= end
    assert chain.expires_at == end + 15 * MINUTE
    times = [step.due_at for step in chain.steps if step.stage == "monitor"]
    gaps = [(later - earlier) // MINUTE for earlier, later in pairwise(times)]
    assert gaps == sorted(gaps, reverse=True)


@pytest.mark.proves("R3-56")
def test_a_chain_closes_after_so_many_good_checks_in_a_row() -> None:
    world = World(good_checks=3, limits={"max_children": 20})
    run_id = world.arm()
    world.end(run_id, "action.1")
    for key, code in [("verify.1", 0), ("monitor.1", 0), ("monitor.2", 20), ("monitor.3", 0), ("monitor.4", 0)]:
        world.end(run_id, key, code)
        assert world.chain(run_id).state is ChainState.COOLING_DOWN
    assert world.chain(run_id).good == 2

    world.end(run_id, "monitor.5", 0)

    assert world.chain(run_id).outcome is ChainOutcome.RESOLVED


@pytest.mark.proves("R3-22", "R3-14")
@pytest.mark.parametrize(("lifetime", "minutes"), [(None, 90), (20 * MINUTE, 20)])
def test_a_chain_expires_at_the_end_of_its_lifetime(lifetime: int | None, minutes: int) -> None:
    world = World(**({} if lifetime is None else {"limits": {"lifetime": lifetime}}))
    armed = world.now
    run_id = world.arm()
    assert world.chain(run_id).expires_at == armed + minutes * MINUTE
    world.end(run_id, "action.1")
    world.begin(run_id, "verify.1")

    world.wait(armed + minutes * MINUTE - world.now - 1)
    assert world.chain(run_id).is_armed
    world.wait(1)

    assert world.chain(run_id).outcome is ChainOutcome.EXPIRED
    assert world.ended[run_id].status is Status.TIMEOUT
    assert world.runs == {}


@pytest.mark.proves("R3-02")
def test_an_armed_chain_that_expires_before_its_first_step_is_closed_and_is_no_failure() -> None:
    world = World(limits={"lifetime": 4 * MINUTE})
    run_id = world.arm()

    world.wait(4 * MINUTE)

    assert states(world.chain(run_id)) == [ChainState.ARMED, ChainState.CLOSED]
    assert world.chain(run_id).outcome is ChainOutcome.EXPIRED
    assert world.class_state.failures == []


def test_a_step_that_a_worker_refused_after_the_expiry_does_not_escalate() -> None:
    world = World(limits={"lifetime": 4 * MINUTE})
    run_id = world.arm()
    world.now = Instant(world.now + 4 * MINUTE)

    world.end(run_id, "action.1", None, status=Status.CANCELLED, reason="cancelled")

    assert world.chain(run_id).outcome is ChainOutcome.EXPIRED
    assert AlertKind.CHAIN_ESCALATED not in world.kinds()


def test_an_action_that_would_begin_after_the_expiry_is_not_planned() -> None:
    world = World()
    run_id = world.arm(deadline=to_iso(Instant(world.now - HOUR)))

    chain = world.chain(run_id)
    assert (chain.outcome, [step.stage for step in chain.steps]) == (ChainOutcome.EXPIRED, ["scout"])
    assert world.class_state.active == []


@pytest.mark.proves("R3-15", "R3-19")
@pytest.mark.parametrize(("depth", "code"), [(2, "max_depth"), (3, None)])
def test_a_request_beyond_the_depth_is_refused(depth: int, code: str | None) -> None:
    world = World(stages={"extra": {}}, limits={"max_depth": depth, "class_spawns": 100})
    run_id = world.arm()
    world.begin(run_id, "action.1")
    first = world.spawn(run_id, "action.1", "extra")
    assert "code" not in first
    world.begin(run_id, "extra.1")
    world.wait(20 * SECOND)

    assert world.spawn(run_id, "extra.1", "extra", dedupe_key="b").get("code") == code


@pytest.mark.proves("R3-16", "R3-48")
def test_the_ninth_step_is_refused_and_a_person_is_told() -> None:
    world = World(good_checks=50, intervals=[{"every": MINUTE}])
    run_id = world.arm()
    world.end(run_id, "action.1")
    world.end(run_id, "verify.1", 0)
    for number in range(1, 7):
        world.end(run_id, f"monitor.{number}", 0)

    chain = world.chain(run_id)
    assert (chain.children, chain.outcome) == (8, ChainOutcome.ESCALATED)
    assert [refused.code for refused in chain.refused] == ["max_children"]
    assert world.class_state.opened is None


def test_a_decision_that_was_told_counts_more_than_json_and_exit_code() -> None:
    world = World()
    run_id = world.arm()
    world.begin(run_id, "action.1")
    assert world.ask(run_id, "action.1", Decide(decision=Decision.CLOSE))["decision"] == "close"
    assert world.ask(run_id, "action.1", Decide(decision=Decision.DONE))["code"] == "already_decided"

    world.end(run_id, "action.1", 0, output={"decision": "done"})

    assert world.chain(run_id).outcome is ChainOutcome.RESOLVED


def test_json_counts_more_than_the_exit_code() -> None:
    world = World()
    run_id = world.arm()
    world.end(run_id, "action.1")

    world.end(run_id, "verify.1", 0, output={"decision": "escalate", "reason": "no"})

    assert world.chain(run_id).outcome is ChainOutcome.ESCALATED


def test_an_unlisted_exit_code_is_a_failure() -> None:
    world = World()
    run_id = world.arm()
    world.end(run_id, "action.1")

    world.end(run_id, "verify.1", 99)

    assert world.chain(run_id).outcome is ChainOutcome.ESCALATED


def test_an_escalation_runs_its_stage_once_although_others_are_cancelled() -> None:
    world = World(stages={"extra": {}, "escalate": {}})
    run_id = world.arm()
    world.begin(run_id, "action.1")
    world.spawn(run_id, "action.1", "extra", delay=Millis(10 * MINUTE))

    world.fail(run_id, "action.1")

    assert world.open_keys(run_id) == ["escalate.1"]
    world.end(run_id, "escalate.1")
    chain = world.chain(run_id)
    assert chain.outcome is ChainOutcome.ESCALATED
    assert world.kinds().count(AlertKind.CHAIN_ESCALATED) == 1


def test_a_pending_escalation_is_not_cancelled_when_another_step_fails() -> None:
    world = World(stages={"extra": {}, "escalate": {}})
    run_id = world.arm()
    world.begin(run_id, "action.1")
    world.spawn(run_id, "action.1", "extra")
    world.begin(run_id, "extra.1")
    world.fail(run_id, "action.1", error="first")

    world.fail(run_id, "extra.1", error="second")

    assert world.open_keys(run_id) == ["escalate.1"]
    world.end(run_id, "escalate.1")
    chain = world.chain(run_id)
    assert (chain.outcome, chain.closing and "first" in chain.closing.cause) == (ChainOutcome.ESCALATED, True)
    assert world.kinds().count(AlertKind.CHAIN_ESCALATED) == 1


@pytest.mark.parametrize("code", [0, 20, 30, 40])
def test_after_an_escalation_nothing_else_is_planned(code: int) -> None:
    world = World(stages={"extra": {}, "escalate": {}})
    run_id = world.arm()
    world.begin(run_id, "action.1")
    world.spawn(run_id, "action.1", "verify", delay=Millis(SECOND))
    world.begin(run_id, "verify.1")
    world.fail(run_id, "action.1")

    assert world.spawn(run_id, "verify.1", "extra")["code"] == "chain_closed"
    world.end(run_id, "verify.1", code)

    assert world.open_keys(run_id) == ["escalate.1"]
    world.end(run_id, "escalate.1")
    assert world.chain(run_id).outcome is ChainOutcome.ESCALATED


def test_a_violation_after_an_escalation_leaves_the_escalation() -> None:
    world = World(stages={"extra": {}, "escalate": {}})
    run_id = world.arm()
    world.begin(run_id, "action.1")
    world.spawn(run_id, "action.1", "extra")
    world.begin(run_id, "extra.1")
    world.fail(run_id, "action.1")

    assert world.spawn(run_id, "extra.1", "extra", claims={"depth": 0})["code"] == "forged"
    world.end(run_id, "extra.1")

    assert world.open_keys(run_id) == ["escalate.1"]


@pytest.mark.parametrize(
    ("key", "decision", "said"),
    [
        ("action.1", "good", 'action.1 decided "good", which an action cannot'),
        ("verify.1", "escalte", 'verify.1 decided "escalte", which a verify cannot'),
        ("verify.1", 7, 'verify.1 decided "7", which a verify cannot'),
    ],
)
def test_a_decision_that_the_stage_cannot_make_is_a_failure_that_says_so(key: str, decision: object, said: str) -> None:
    world = World()
    run_id = world.arm()
    if key == "verify.1":
        world.end(run_id, "action.1")

    world.end(run_id, key, 0, output={"decision": decision})

    chain = world.chain(run_id)
    assert chain.outcome is ChainOutcome.ESCALATED
    assert chain.moves[-1].cause.startswith(said)


def test_a_scout_with_an_unknown_decision_has_failed() -> None:
    world = World()
    run_id = world.start()

    world.end(run_id, "scout.1", output={"decision": "triger"})

    assert world.ended[run_id].status is Status.FAILED
    assert 'decided "triger", which a scout cannot' in (world.ended[run_id].error or "")


def test_a_wrong_cost_does_not_hide_that_a_scout_triggers() -> None:
    world = World()

    run_id = world.arm(usd="0.02")

    assert (world.chain(run_id).is_armed, world.chain(run_id).usd) == (True, 0.02)


def test_what_a_failed_step_has_spent_counts() -> None:
    world = World()
    run_id = world.arm()

    world.end(
        run_id, "action.1", 75, status=Status.FAILED, reason="exit_code", output={"decision": "close", "tokens": 9}
    )

    assert (world.chain(run_id).tokens, world.open_keys(run_id)) == (9, ["action.2"])


def test_a_request_with_a_deadline_that_is_no_time_is_refused() -> None:
    world = World()
    run_id = world.start()
    world.begin(run_id, "scout.1")

    refused = world.spawn(run_id, "scout.1", "action", deadline="tomorrow")

    assert (refused["code"], "'tomorrow' is not a time" in refused["error"]) == ("invalid_deadline", True)
    assert not world.chain(run_id).is_armed


def test_the_budget_of_a_day_refuses_the_next_step_until_midnight() -> None:
    world = World(limits={"daily_tokens": 100, "lifetime": 2 * HOUR})
    run_id = world.arm()
    world.end(run_id, "action.1", output={"decision": "done", "tokens": 100})
    assert world.chain(run_id).outcome is ChainOutcome.ESCALATED
    assert AlertKind.BUDGET_USED in world.kinds()

    refused = world.arm("second")
    assert world.ended[refused].status is Status.SKIPPED
    world.wait(24 * HOUR)
    assert world.chain(world.arm("third")).is_armed


@pytest.mark.parametrize("slot", ["a b", "", "-x", "x" * 65, "a\0b"])
def test_a_slot_that_is_no_slot_arms_nothing(slot: str) -> None:
    world = World()
    run_id = world.start()

    world.end(run_id, "scout.1", output={"decision": "trigger", "slot": slot})

    if slot:
        assert world.ended[run_id].status is Status.SKIPPED
        assert world.records == {}
    else:
        assert world.chain(run_id).slot == "main"


@pytest.mark.parametrize("deadline", [10**18, -(10**18), "yesterday", "9999-12-31T23:59:59+00:00", "2026-01-01T10:00"])
def test_a_reported_deadline_that_is_no_moment_counts_as_none(deadline: object) -> None:
    world = World()

    run_id = world.arm(deadline=deadline)

    chain = world.chain(run_id)
    assert chain.expires_at is not None
    assert world.now < chain.expires_at <= world.now + 90 * MINUTE


def test_a_scout_that_is_too_late_ends_as_timed_out() -> None:
    world = World()
    run_id = world.start()
    world.trees[run_id] = world.trees[run_id]._replace(deadline=Instant(world.now + MINUTE))

    world.wait(MINUTE)

    assert world.ended[run_id].status is Status.TIMEOUT
    assert world.runs == {}


def test_a_refused_request_is_recorded() -> None:
    world = World()
    run_id = world.arm()
    world.begin(run_id, "action.1")

    codes = [
        world.spawn(run_id, "action.1", "none")["code"],
        world.spawn(run_id, "action.1", "scout")["code"],
        world.spawn(run_id, "action.1", "verify", delay=Millis(999))["code"],
        world.spawn(run_id, "action.1", "verify", delay=Millis(2 * HOUR))["code"],
        world.spawn(run_id, "action.1", "verify", delay=Millis(2**70))["code"],
    ]

    assert codes == ["stage_not_found", "stage_not_found", "delay_too_short", "expired", "expired"]
    assert [refused.code for refused in world.chain(run_id).refused] == codes
    assert world.class_state.opened is None


def test_a_scout_that_asks_for_a_late_action_arms_nothing() -> None:
    world = World()
    run_id = world.start()
    world.begin(run_id, "scout.1")

    refused = world.spawn(run_id, "scout.1", "action", delay=Millis(2 * HOUR))

    assert refused["code"] == "expired"
    assert not world.chain(run_id).is_armed
    assert world.spawn(run_id, "scout.1", "action", delay=Millis(SECOND))["is_new"]


def test_a_chain_that_waits_for_its_last_step_is_closing() -> None:
    world = World(stages={"extra": {}})
    run_id = world.arm()
    world.begin(run_id, "action.1")
    world.spawn(run_id, "action.1", "extra")
    world.begin(run_id, "extra.1")
    world.end(run_id, "action.1", 15)

    refused = world.spawn(run_id, "extra.1", "verify")

    assert (refused["code"], refused["error"]) == ("chain_closed", f"chain {world.chain(run_id).id} is closing")


def test_what_cannot_be_stored_is_refused() -> None:
    world = World(stages={"extra": {}})
    run_id = world.arm()
    world.begin(run_id, "action.1")

    answers = [
        world.spawn(run_id, "action.1", "extra", dedupe_key="k" * 201),
        world.spawn(run_id, "action.1", "extra", payload={"text": "x" * 2_000_000}),
        world.spawn(run_id, "action.1", "extra", payload=object()),
    ]

    assert [answer["code"] for answer in answers] == ["key_too_long", "invalid_payload", "invalid_payload"]
    assert world.chain(run_id).children == 1
