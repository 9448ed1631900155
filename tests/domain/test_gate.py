"""The decisions of a gate."""

from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.gate.decision import (
    Decision,
    DependencyState,
    End,
    Verdict,
    cooling,
    decide,
    verdict_on,
    waits,
    window_of,
)
from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import DAY, HOUR, MINUTE, Instant, Millis, from_datetime, to_iso
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import TERMINAL, Status
from foliot.errors import InvalidJob
from tests.cases import for_each

A, B = JobId("a"), JobId("b")
NOON = from_datetime(datetime(2026, 3, 29, 12, tzinfo=UTC))
GATE = Gate(depends_on=(A, B))


def ended(status: Status, run_id: str = "r") -> DependencyState:
    return DependencyState(End(RunId(run_id), status, NOON))


def gate(**fields: object) -> Gate:
    return Gate(depends_on=(A, B), **fields)  # type: ignore[arg-type]  # a test names what it means


@pytest.mark.proves("R0-19", "D10")
def test_a_gate_runs_when_every_dependency_is_met() -> None:
    decision = decide(GATE, {A: ended(Status.SUCCESS, "r1"), B: ended(Status.PARTIAL, "r2")})

    assert decision.action is Action.RUN
    assert decision.deciders == {A: "r1", B: "r2"}
    assert decision.reason is None


@pytest.mark.proves("R0-15", "R0-16", "R0-20", "R0-21", "D10")
@for_each(("on_missing", "on_dep_fail"), list(product(Action, Action)))
def test_every_combination_of_gate_policies(on_missing: Action, on_dep_fail: Action) -> None:
    """The strongest action wins: fail, then skip, then run."""
    strength = [Action.RUN, Action.SKIP, Action.FAIL]
    checked = gate(on_missing=on_missing, on_dep_fail=on_dep_fail)
    good, bad, none = ended(Status.SUCCESS), ended(Status.TIMEOUT), DependencyState(None)

    assert decide(checked, {A: good, B: none}).action is on_missing
    assert decide(checked, {A: bad, B: good}).action is on_dep_fail
    assert decide(checked, {A: bad, B: none}).action is max(on_missing, on_dep_fail, key=strength.index)


@pytest.mark.parametrize(
    ("status", "verdict"),
    {
        Status.SUCCESS: Verdict.MET,
        Status.PARTIAL: Verdict.MET,
        Status.FAILED: Verdict.FAILED,
        Status.TIMEOUT: Verdict.FAILED,
        Status.CANCELLED: Verdict.FAILED,
        Status.SKIPPED: Verdict.MISSING,
    }.items(),
)
def test_what_each_status_counts_as_for_a_gate(status: Status, verdict: Verdict) -> None:
    assert verdict_on(GATE, ended(status)) is verdict


def test_partial_counts_as_failed_if_the_gate_says_so() -> None:
    assert verdict_on(gate(partial_counts_as="failed"), ended(Status.PARTIAL)) is Verdict.FAILED


@given(st.sampled_from(sorted(TERMINAL)), st.sampled_from(Action), st.sampled_from(Action))
def test_a_decision_has_a_reason_exactly_when_a_dependency_is_not_met(
    status: Status, on_missing: Action, on_dep_fail: Action
) -> None:
    decision = decide(
        gate(on_missing=on_missing, on_dep_fail=on_dep_fail), {A: ended(status), B: ended(Status.SUCCESS)}
    )

    assert (decision.reason is not None) == (decision.action is not Action.RUN)
    if decision.action is not Action.RUN:
        assert "a (" in decision.explanation


def test_a_failed_dependency_is_the_reason_before_a_missing_one() -> None:
    decision = decide(GATE, {A: DependencyState(None), B: ended(Status.FAILED)})

    assert decision == Decision(
        action=Action.SKIP,
        reason=Reason.DEP_FAILED,
        verdicts={A: Verdict.MISSING, B: Verdict.FAILED},
        deciders={B: RunId("r")},
    )


@pytest.mark.proves("R0-14")
def test_a_sliding_window_counts_from_the_planned_moment() -> None:
    assert window_of(gate(window=HOUR), NOON, None) == NOON - HOUR


def test_the_window_since_the_last_success_slides_until_there_is_one() -> None:
    checked = gate(window=HOUR, window_kind=WindowKind.LAST_SUCCESS)

    assert window_of(checked, NOON, Instant(NOON - 5 * DAY)) == NOON - 5 * DAY
    assert window_of(checked, NOON, None) == NOON - HOUR


@pytest.mark.parametrize(
    ("zone", "planned", "begun"),
    [
        ("UTC", "2026-03-29T00:00:00Z", "2026-03-29T00:00:00Z"),
        ("Europe/Berlin", "2026-03-29T21:59:59.500Z", "2026-03-28T23:00:00Z"),
        ("Europe/Berlin", "2026-03-29T22:00:00Z", "2026-03-29T22:00:00Z"),
        ("Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-23T22:00:00Z"),
        ("America/Havana", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z"),
    ],
)
def test_the_local_day_begins_at_its_first_instant(zone: str, planned: str, begun: str) -> None:
    """In Cairo a clock change skips midnight, in Havana one repeats it."""
    checked = gate(window_kind=WindowKind.LOCAL_DAY, timezone=zone)

    after = window_of(checked, from_datetime(datetime.fromisoformat(planned)), None)

    assert to_iso(Instant(after + 1)) == begun


def test_a_gate_waits_only_while_an_unmet_dependency_is_expected_and_wait_has_not_passed() -> None:
    checked = gate(wait=MINUTE)
    busy = {A: DependencyState(None, is_expected=True), B: ended(Status.SUCCESS)}
    again = {A: DependencyState(End(RunId("r"), Status.SUCCESS, NOON), is_expected=True), B: ended(Status.SUCCESS)}

    assert waits(checked, busy, NOON, NOON)
    assert not waits(checked, busy, NOON, Instant(NOON + MINUTE))
    assert not waits(checked, again, NOON, NOON)
    assert not waits(checked, {A: DependencyState(None), B: ended(Status.SUCCESS)}, NOON, NOON)
    assert not waits(GATE, busy, NOON, NOON)


@pytest.mark.proves("R0-74")
def test_a_gate_that_has_declined_declines_until_its_cooldown_ends() -> None:
    checked = gate(cooldown=HOUR)

    assert cooling(checked, Instant(NOON - HOUR + 1), NOON)
    assert not cooling(checked, Instant(NOON - HOUR), NOON)
    assert not cooling(checked, None, NOON)
    assert not cooling(GATE, NOON, NOON)


@pytest.mark.proves("R0-13")
@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (Gate(depends_on=()), "1 to 1000"),
        (Gate(depends_on=(JobId("me"),)), "itself"),
        (Gate(depends_on=(A,), window=Millis(0)), "window"),
        (Gate(depends_on=(A,), window=Millis(-1)), "window"),
        (Gate(depends_on=(A,), wait=Millis(400 * DAY)), "wait"),
        (Gate(depends_on=(A,), cooldown=Millis(-1)), "cooldown"),
    ],
)
def test_an_invalid_gate_is_refused(wrong: Gate, complaint: str) -> None:
    with pytest.raises(InvalidJob, match=complaint):
        wrong.check(JobId("me"))
